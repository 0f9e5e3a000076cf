#include "analysis/comm_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/clock_align.h"
#include "analysis/comm.h"
#include "analysis/comm_facts.h"
#include "analysis/comm_names.h"
#include "analysis/comm_sequence.h"

namespace pyrometer::analysis {
namespace {

using model::CollectiveMatch;
using model::CommCall;
using model::DurationNs;
using model::Index;
using model::Interval;
using model::kNone;
using model::TimeNs;

// One rank's part in one communicator. Sequence and calls have the same order.
struct Member {
  std::size_t position = 0;  // of the rank
  CommSequence sequence;
  std::vector<Index> calls;  // of CommTable::calls
};

struct Communicator {
  std::string key;
  bool known = false;
  std::int32_t size = -1;
  std::vector<Member> members;
  [[nodiscard]] std::size_t call_count() const {
    std::size_t sum = 0;
    for (const Member& m : members) sum += m.calls.size();
    return sum;
  }
};

// Sends and receives pair up only between two ranks; in a longer pipeline each rank's calls go to
// different peers and their order says nothing.
bool can_match(const CommCall& call, const model::CommGroup& group) {
  const bool one_sided =
      call.collective == model::Collective::kSend || call.collective == model::Collective::kRecv;
  return !one_sided || group.size == 2;
}

// The device that communicates most, where one process drives several.
model::DeviceId comm_device(const model::RankTimeline& t, const model::CommTable& table) {
  std::vector<std::size_t> count(t.devices.size() + 1, 0);
  for (const CommCall& call : table.calls) ++count[t.activities.device[call.activity]];
  return static_cast<model::DeviceId>(std::max_element(count.begin(), count.end()) - count.begin());
}

void add_member(const model::RankTimeline& t, const model::CommTable& table, std::size_t position,
                std::map<std::string, Communicator>& by_key) {
  std::vector<Member> members(table.groups.size());
  const model::DeviceId device = comm_device(t, table);
  for (std::size_t i = 0; i < table.calls.size(); ++i) {
    const CommCall& call = table.calls[i];
    if (t.activities.device[call.activity] != device) continue;
    if (can_match(call, table.groups[call.group])) {
      members[call.group].calls.push_back(static_cast<Index>(i));
    }
  }
  for (std::size_t g = 0; g < members.size(); ++g) {
    Member& member = members[g];
    if (member.calls.empty()) continue;
    member.position = position;
    const auto end_of = [&](Index call) { return t.activities.end[table.calls[call].activity]; };
    std::stable_sort(member.calls.begin(), member.calls.end(),
                     [&](Index a, Index b) { return end_of(a) < end_of(b); });
    for (const Index c : member.calls) {
      const CommCall& call = table.calls[c];
      member.sequence.push_back({t.activities.start[call.activity], t.activities.end[call.activity],
                                 call.collective, call.bytes, call.sequence, call.step_number});
    }
    Communicator& communicator = by_key[table.groups[g].key];
    communicator.key = table.groups[g].key;
    communicator.known = table.groups[g].known;
    communicator.size = table.groups[g].size;
    communicator.members.push_back(std::move(member));
  }
}

// Those that at least two ranks share, the busiest first: they settle the clocks for the rest.
std::vector<Communicator> communicators(const model::Timeline& timeline,
                                        const model::JobAnalysis& job) {
  std::map<std::string, Communicator> by_key;
  for (std::size_t r = 0; r < timeline.ranks.size(); ++r) {
    add_member(timeline.ranks[r], job.ranks[r].comm, r, by_key);
  }
  std::vector<Communicator> result;
  for (auto& [key, c] : by_key) {
    if (c.members.size() >= 2) result.push_back(std::move(c));
  }
  std::stable_sort(result.begin(), result.end(), [](const Communicator& a, const Communicator& b) {
    return a.call_count() > b.call_count();
  });
  // The one with most calls is what the others are held against. Ranks, not positions, break ties:
  // the order in which ranks are loaded must not matter.
  for (Communicator& c : result) {
    std::sort(c.members.begin(), c.members.end(), [&](const Member& a, const Member& b) {
      if (a.calls.size() != b.calls.size()) return a.calls.size() > b.calls.size();
      return timeline.ranks[a.position].info.rank < timeline.ranks[b.position].info.rank;
    });
  }
  return result;
}

// What is known so far of the offsets between clocks: ranks in one set have theirs to the same
// base.
class KnownOffsets {
 public:
  explicit KnownOffsets(std::size_t ranks) : set_(ranks), offset_(ranks, 0) {
    std::iota(set_.begin(), set_.end(), std::size_t{0});
  }
  // Add to a time of `b` to get the time of `a`.
  [[nodiscard]] std::optional<DurationNs> between(std::size_t a, std::size_t b) const {
    if (set_[a] != set_[b]) return std::nullopt;
    return offset_[b] - offset_[a];
  }
  void learn(std::size_t a, std::size_t b, DurationNs offset) {
    const std::size_t from = set_[b];
    if (set_[a] == from) return;
    const DurationNs move = offset + offset_[a] - offset_[b];
    for (std::size_t r = 0; r < set_.size(); ++r) {
      if (set_[r] != from) continue;
      set_[r] = set_[a];
      offset_[r] += move;
    }
  }

 private:
  std::vector<std::size_t> set_;
  std::vector<DurationNs> offset_;
};

// One collective of a communicator with the ranks that were found in it.
struct Joint {
  CommEvent event;                                        // as the first member saw it
  std::vector<std::pair<std::size_t, std::size_t>> seen;  // (member, place in its sequence)
};

// What is known of the collective from any rank holds for all.
void complete(CommEvent& event, const CommEvent& other) {
  if (event.collective == model::Collective::kUnknown ||
      event.collective == model::Collective::kSendRecv) {
    event.collective = other.collective;
  }
  if (event.bytes < 0) event.bytes = other.bytes;
  if (event.step < 0) event.step = other.step;
  if (event.sequence < 0) event.sequence = other.sequence;
}

struct JoinResult {
  std::vector<Joint> joints;
  bool by_sequence_number = false;
};

// Holds one member after the other against what is known from those before; what a member has
// beyond that is kept for the next ones.
JoinResult join(const Communicator& c, KnownOffsets& offsets) {
  JoinResult result;
  const std::size_t base = c.members.front().position;
  for (std::size_t m = 0; m < c.members.size(); ++m) {
    const Member& member = c.members[m];
    CommSequence so_far;
    for (const Joint& joint : result.joints) so_far.push_back(joint.event);
    SequenceMatch match;
    if (m > 0) {
      std::vector<DurationNs> guesses;
      if (const auto known = offsets.between(base, member.position)) guesses.push_back(*known);
      if (guesses.empty()) guesses.push_back(0);
      match = match_sequences(so_far, member.sequence, guesses);
      // Without a name for the group nothing but the coincidence of ends says that these ranks
      // belong together: a few may be chance.
      const std::size_t most = std::min(so_far.size(), member.sequence.size());
      if (!c.known && match.pairs.size() * 4 < most) match = {};
      if (match.pairs.empty()) continue;
      result.by_sequence_number = result.by_sequence_number || match.by_sequence_number;
      offsets.learn(base, member.position, match.clock.offset);
    }
    std::vector<bool> found(member.sequence.size(), false);
    for (const auto& [i, j] : match.pairs) {
      result.joints[i].seen.emplace_back(m, j);
      complete(result.joints[i].event, member.sequence[j]);
      found[j] = true;
    }
    for (std::size_t j = 0; j < member.sequence.size(); ++j) {
      if (found[j]) continue;
      Joint joint{member.sequence[j], {{m, j}}};
      joint.event.start = match.clock.to_reference(joint.event.start);
      joint.event.end = match.clock.to_reference(joint.event.end);
      result.joints.push_back(std::move(joint));
    }
    std::stable_sort(result.joints.begin(), result.joints.end(),
                     [](const Joint& a, const Joint& b) { return a.event.end < b.event.end; });
  }
  return result;
}

class Matcher {
 public:
  Matcher(const model::Timeline& timeline, model::JobAnalysis& job)
      : timeline_(timeline), job_(job), cross_(job.cross), offsets_(timeline.ranks.size()) {
    by_rank_.resize(timeline.ranks.size());
    std::iota(by_rank_.begin(), by_rank_.end(), std::size_t{0});
    std::stable_sort(by_rank_.begin(), by_rank_.end(), [&](std::size_t a, std::size_t b) {
      return timeline.ranks[a].info.rank < timeline.ranks[b].info.rank;
    });
  }

  void run() {
    const std::vector<Communicator> all = communicators(timeline_, job_);
    for (const Communicator& c : all) {
      const JoinResult joined = join(c, offsets_);
      for (const Joint& joint : joined.joints) {
        if (joint.seen.size() >= 2) add_match(c, joint);
      }
      by_number_ = by_number_ || joined.by_sequence_number;
      by_order_ = by_order_ || !joined.by_sequence_number;
      all_groups_known_ = all_groups_known_ && c.known;
    }
    cross_.matched = !cross_.matches.empty();
    cross_.how = cross_.matched ? std::string() : why_not(all);
    if (!cross_.matched) return;
    align();
    find_last_arrivals();
    for (std::size_t r = 0; r < timeline_.ranks.size(); ++r) write_rank(r);
    cross_.how = how();
  }

 private:
  [[nodiscard]] const model::ActivityTable& activities(std::size_t rank) const {
    return timeline_.ranks[rank].activities;
  }

  void add_match(const Communicator& c, const Joint& joint) {
    CollectiveMatch match;
    match.activity.assign(timeline_.ranks.size(), kNone);
    for (const auto& [m, place] : joint.seen) {
      const Member& member = c.members[m];
      match.activity[member.position] =
          job_.ranks[member.position].comm.calls[member.calls[place]].activity;
    }
    match.collective = joint.event.collective;
    match.bytes = joint.event.bytes;
    match.group_size = c.size;
    std::int32_t expected = c.size;
    if (expected <= 0) {
      // No group given: all ranks of the job, as far as the traces say how many those are.
      expected = std::max(timeline_.ranks[c.members.front().position].info.world_size,
                          static_cast<std::int32_t>(c.members.size()));
    }
    match.complete = static_cast<std::int32_t>(joint.seen.size()) >= expected;
    cross_.matches.push_back(std::move(match));
  }

  // Collectives that end together tell how the clocks lie; others only where there are none.
  void align() {
    std::map<std::pair<std::size_t, std::size_t>, ClockLink> together;
    std::map<std::pair<std::size_t, std::size_t>, ClockLink> any;
    for (const CollectiveMatch& match : cross_.matches) {
      std::size_t first = by_rank_.size();  // places in by_rank_
      for (std::size_t place = 0; place < by_rank_.size(); ++place) {
        if (match.activity[by_rank_[place]] == kNone) continue;
        if (first == by_rank_.size()) {
          first = place;
          continue;
        }
        const std::size_t a = by_rank_[first];
        const std::size_t b = by_rank_[place];
        const SharedEnd end{activities(b).end[match.activity[b]],
                            activities(a).end[match.activity[a]]};
        if (ends_together(match.collective)) add_end(together[{first, place}], a, b, end);
        add_end(any[{first, place}], a, b, end);
      }
    }
    std::vector<ClockLink> links;
    for (auto& [places, link] : any) {
      const auto better = together.find(places);
      links.push_back(std::move(better != together.end() ? better->second : link));
    }
    Clocks clocks = align_clocks(timeline_.ranks.size(), links);
    cross_.clock = std::move(clocks.maps);
    cross_.clock_spread_ns = clocks.spread_ns;
    for (const model::ClockMap& map : cross_.clock) cross_.clock_offset.push_back(map.offset);
  }

  static void add_end(ClockLink& link, std::size_t a, std::size_t b, const SharedEnd& end) {
    link.a = a;
    link.b = b;
    link.ends.push_back(end);
  }

  void find_last_arrivals() {
    for (CollectiveMatch& match : cross_.matches) {
      for (const std::size_t r : by_rank_) {
        if (match.activity[r] == kNone) continue;
        const TimeNs arrival = cross_.clock[r].to_reference(activities(r).start[match.activity[r]]);
        if (match.last_rank == kNone || arrival > match.last_arrival) {
          match.last_arrival = arrival;
          match.last_rank = static_cast<Index>(r);
        }
      }
    }
    std::stable_sort(cross_.matches.begin(), cross_.matches.end(),
                     [](const CollectiveMatch& a, const CollectiveMatch& b) {
                       return a.last_arrival < b.last_arrival;
                     });
  }

  // Arrivals on the rank's own clock, and how much of its exposed communication they explain.
  void write_rank(std::size_t r) {
    model::CommTable& table = job_.ranks[r].comm;
    const model::ActivityTable& act = activities(r);
    bool any = false;
    std::vector<TimeNs> arrivals(act.size(), model::kUnknownArrival);
    for (const CollectiveMatch& match : cross_.matches) {
      const Index i = match.activity[r];
      if (i == kNone) continue;
      any = true;
      // Its own arrival is its own start, whatever the clocks are worth.
      arrivals[i] = match.last_rank == r
                        ? act.start[i]
                        : std::clamp(cross_.clock[r].from_reference(match.last_arrival),
                                     act.start[i], act.end[i]);
    }
    if (!any) return;
    table.last_arrival = std::move(arrivals);
    add_skew(timeline_.ranks[r], job_.ranks[r]);
  }

  static void add_skew(const model::RankTimeline& t, model::RankAnalysis& a) {
    model::CommTable& table = a.comm;
    const Interval window = comm_window(t, a);
    std::size_t next = 0;
    for (const model::Device& device : t.devices) {
      std::vector<IntervalSet> waits(table.rows.size());
      bool any = false;
      for (; next < table.calls.size() && table.calls[next].activity < device.activities.end;
           ++next) {
        const CommCall& call = table.calls[next];
        const TimeNs until = table.last_arrival[call.activity];
        if (call.row == kNone || until == model::kUnknownArrival) continue;
        waits[call.row].add(std::max(t.activities.start[call.activity], window.start),
                            std::min(until, window.end));
        any = true;
      }
      if (!any) continue;
      const IntervalSet compute = compute_time(t, a, device);
      for (std::size_t i = 0; i < waits.size(); ++i) {
        table.rows[i].skew += waits[i].length() - overlap_length(waits[i], compute);
      }
    }
  }

  [[nodiscard]] std::string why_not(const std::vector<Communicator>& all) const {
    if (timeline_.ranks.size() < 2) return "needs at least two ranks";
    if (all.empty()) return "no communicator has communication kernels on two of the ranks";
    return "no collective was found on two ranks";
  }

  [[nodiscard]] std::string how() const {
    std::string text = fmt::format("{} collectives of {} ranks matched by ", cross_.matches.size(),
                                   timeline_.ranks.size());
    if (by_number_) text += by_order_ ? "sequence number or by order" : "sequence number";
    if (!by_number_) text += "order and the moment they end";
    std::size_t calls = 0;
    std::size_t matched = 0;
    for (std::size_t r = 0; r < timeline_.ranks.size(); ++r) {
      calls += job_.ranks[r].comm.calls.size();
      for (const CollectiveMatch& m : cross_.matches) matched += m.activity[r] != kNone ? 1 : 0;
    }
    text += fmt::format(" ({} of {} communication kernels)", matched, calls);
    if (!all_groups_known_) text += "; not all process groups are named";
    const auto incomplete = std::count_if(cross_.matches.begin(), cross_.matches.end(),
                                          [](const CollectiveMatch& m) { return !m.complete; });
    if (incomplete > 0) {
      text += fmt::format("; in {} of them ranks are missing, so waiting may be underestimated",
                          incomplete);
    }
    return text;
  }

  const model::Timeline& timeline_;
  model::JobAnalysis& job_;
  model::CrossRank& cross_;
  KnownOffsets offsets_;
  std::vector<std::size_t> by_rank_;  // positions, by rank number
  bool by_number_ = false;
  bool by_order_ = false;
  bool all_groups_known_ = true;
};

}  // namespace

void match_collectives(const model::Timeline& timeline, model::JobAnalysis& job) {
  Matcher(timeline, job).run();
  set_job_comm_facts(timeline, job);
}

}  // namespace pyrometer::analysis

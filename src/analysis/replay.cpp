#include "analysis/replay.h"

#include <algorithm>
#include <limits>

#include "analysis/replay_plan.h"

namespace pyrometer::analysis {
namespace {

using model::Index;
using model::kNone;

// Where the replayed ranks meet in collectives, while one chunk is replayed.
struct MeetingState {
  std::uint32_t arrived = 0;
  double last_arrival = -std::numeric_limits<double>::infinity();  // shared clock
  bool forced = false;  // ranks that never arrive are no longer waited for
};

// Replays one chunk of one rank. Times are ns since the start of the chunk.
class ChunkReplay {
 public:
  ChunkReplay(const ReplayRank& rank, const ReplayPlan& plan, const GraphChunk& chunk,
              const ReplaySettings& settings)
      : graph_(*rank.graph),
        plan_(plan),
        chunk_(chunk),
        settings_(settings),
        item_(chunk.first_item),
        end_item_(chunk.first_item + chunk.item_count),
        first_activity_(chunk.item_count > 0 ? graph_.items[item_].first_activity : 0),
        step_(chunk.first_step_in_graph) {
    std::size_t activities = 0;
    if (chunk.item_count > 0) {
      const GraphItem& last = graph_.items[end_item_ - 1];
      activities = last.first_activity + last.activity_count - first_activity_;
    }
    ended_.resize(activities);
    stream_.assign(graph_.streams.size(), 0);
    follows_.assign(graph_.streams.size(), 0);
    for (std::size_t i = 0; i < chunk.stream_busy.size(); ++i) {
      if (chunk.stream_busy[i] <= chunk.start) continue;
      stream_[i] = static_cast<double>(chunk.stream_busy[i] - chunk.start);
      follows_[i] = 1;
      work_ = std::max(work_, stream_[i]);
    }
    last_work_ = work_;
    begin_step();
  }

  void meet(const std::vector<Index>& meetings, const std::vector<std::uint32_t>& ranks,
            std::vector<MeetingState>& states, double clock) {
    meeting_of_ = &meetings;
    meeting_ranks_ = &ranks;
    meetings_ = &states;
    clock_ = clock;
  }

  // Goes on until the end (true) or until a collective lacks other ranks (false).
  bool run(std::vector<double>& steps);
  // The collective that holds it up.
  [[nodiscard]] Index held_by() const { return held_by_; }

 private:
  void begin_step();
  void host_part(const GraphItem& item);
  bool place(const GraphItem& item, Index k);
  void finish(const GraphItem& item, std::vector<double>& steps);
  [[nodiscard]] float tail_of(const GraphItem& item) const;
  double meeting_end(Index meeting, double start, float transfer);

  const StepGraph& graph_;
  const ReplayPlan& plan_;
  const GraphChunk& chunk_;
  const ReplaySettings& settings_;
  const std::vector<Index>* meeting_of_ = nullptr;
  const std::vector<std::uint32_t>* meeting_ranks_ = nullptr;
  std::vector<MeetingState>* meetings_ = nullptr;
  double clock_ = 0;

  Index item_;
  Index end_item_;
  Index first_activity_;
  Index activity_ = kNone;  // where to go on within the item; kNone: at its beginning
  std::size_t step_;
  double host_ = 0;
  double release_ = 0;     // when the item's activities may start
  double not_before_ = 0;  // the host's time at the end of the item before
  double work_ = 0;        // everything launched so far has ended
  double last_work_ = 0;   // at the end of the step before
  double delivery_ = 0;    // last wait for a loader in other processes
  bool delivered_ = false;
  float real_ = 1;        // share of the item's host time that is not the profiler's
  bool arrived_ = false;  // at the collective that holds it up
  Index held_by_ = kNone;
  float input_factor_ = 1;
  float device_factor_ = 1;
  double pending_graph_launch_ = 0;
  double copies_ = 0;  // overlapped host-to-device copies: end of the last
  std::vector<double> ended_;
  std::vector<double> stream_;
  std::vector<char> follows_;  // whether the stream has had work
};

void ChunkReplay::begin_step() {
  input_factor_ = step_ < plan_.step_input.size() ? plan_.step_input[step_] : 1.0F;
  pending_graph_launch_ = plan_.graph_launch ? plan_.edit.graph_launch_ns : 0;
}

void ChunkReplay::host_part(const GraphItem& item) {
  const ReplayPlan::HostTime time = plan_.host_time(graph_, item, settings_.level);
  not_before_ = host_;
  host_ += static_cast<double>(time.gap);
  if (item.regions != kNone) {
    const float period = graph_.regions[item.regions].input_period;
    if (period > 0 && delivered_) {
      // The loader works on its own: the wait lasts until its next batch is due.
      const double due =
          delivery_ + static_cast<double>(period) * plan_.edit.input_wait * plan_.edit.batch;
      const double wait = std::max(0.0, due - host_) * input_factor_;
      host_ += wait;
      delivery_ = host_;
    } else {
      host_ += static_cast<double>(time.input * input_factor_);
      if (graph_.regions[item.regions].from_other_process) {
        delivery_ = host_;
        delivered_ = true;
      }
    }
  }
  if (pending_graph_launch_ > 0 && item.kind == ItemKind::kLaunch) {
    host_ += pending_graph_launch_;
    pending_graph_launch_ = 0;
  }
  host_ += static_cast<double>(time.own);
  real_ = time.real;
  if (item.queue_full && plan_.waits(item)) {
    host_ = std::max(host_, ended_[item.awaited - first_activity_] + tail_of(item));
  }
  release_ = host_;
  device_factor_ = plan_.device_factor(item);
}

float ChunkReplay::tail_of(const GraphItem& item) const {
  if (!settings_.typical_delays) return item.tail > 0 ? item.tail * real_ : item.tail;
  const GraphDelays& delays = chunk_.delays;
  if (item.kind == ItemKind::kAlloc) return delays.alloc_tail;
  if (item.queue_full) return delays.queue_tail;
  return item.is_copy_wait ? delays.copy_tail : delays.sync_tail;
}

double ChunkReplay::meeting_end(Index meeting, double start, float transfer) {
  MeetingState& state = (*meetings_)[meeting];
  if (!arrived_) {
    ++state.arrived;
    state.last_arrival = std::max(state.last_arrival, start + clock_);
    arrived_ = true;
  }
  if (state.arrived < (*meeting_ranks_)[meeting] && !state.forced) {
    held_by_ = meeting;
    return -1;
  }
  held_by_ = kNone;
  arrived_ = false;
  return std::max(start, state.last_arrival - clock_) + transfer;
}

bool ChunkReplay::place(const GraphItem& item, Index k) {
  const GraphActivity& activity = graph_.activities[k];
  const float duration = plan_.duration(item, activity, device_factor_, settings_.comm);
  double& stream = stream_[activity.stream];
  double& ended = ended_[k - first_activity_];
  if (duration <= 0 && activity.duration > 0) {  // edited away
    ended = stream;
    return true;
  }
  const bool typical = settings_.typical_delays;
  const GraphDelays& delays = chunk_.delays;
  const float latency =
      typical ? delays.latency[static_cast<std::size_t>(activity.role)] : activity.latency;
  double start = std::max(not_before_, release_ + latency);
  if (k != item.first_activity && item.activity_count > 1) start = not_before_;
  if (activity.dep != kNone) {
    start = std::max(start, ended_[activity.dep - first_activity_] +
                                (typical ? delays.dep_delay : activity.dep_delay));
  }
  if (activity.role == ActivityRole::kH2D && plan_.edit.h2d_overlapped) {
    copies_ = std::max(copies_, start) + duration;
    ended = copies_;
    work_ = std::max(work_, copies_);
    return true;
  }
  if (follows_[activity.stream] != 0)
    start = std::max(start, stream + (typical ? delays.gap : activity.gap));
  ended = start + duration;
  const Index meeting = meeting_of_ == nullptr ? kNone : (*meeting_of_)[k];
  if (meeting != kNone) {
    const float transfer = activity.transfer * device_factor_ *
                           plan_.role[static_cast<std::size_t>(ActivityRole::kComm)];
    const double end = meeting_end(meeting, start, transfer);
    if (held_by_ != kNone) return false;
    ended = end;
  }
  stream = std::max(stream, ended);
  follows_[activity.stream] = 1;
  work_ = std::max(work_, ended);
  return true;
}

void ChunkReplay::finish(const GraphItem& item, std::vector<double>& steps) {
  if (item.wait != WaitFor::kNothing && !item.queue_full && plan_.waits(item)) {
    const double tail = static_cast<double>(tail_of(item)) *
                        (item.kind == ItemKind::kAlloc ? plan_.edit.alloc_calls : 1);
    double until = 0;
    if (item.wait == WaitFor::kDevice) {
      for (const double end : stream_) until = std::max(until, end);
    } else {
      until = ended_[item.awaited - first_activity_];
    }
    host_ = std::max(host_, until + tail);
  }
  if (item.kind == ItemKind::kStepEnd) {
    work_ = std::max(work_, host_);
    steps.push_back(work_ - last_work_);
    last_work_ = work_;
    ++step_;
    begin_step();
  }
}

bool ChunkReplay::run(std::vector<double>& steps) {
  for (; item_ < end_item_; ++item_) {
    const GraphItem& item = graph_.items[item_];
    if (activity_ == kNone) {
      host_part(item);
      activity_ = item.first_activity;
    }
    for (; activity_ < item.first_activity + item.activity_count; ++activity_) {
      if (!place(item, activity_)) return false;
    }
    activity_ = kNone;
    finish(item, steps);
  }
  return true;
}

// Ranks take turns: each runs until a collective lacks another rank. If none can go on (the order
// of collectives differs, as with damaged traces), the first one held up goes on alone.
void run_together(std::vector<ChunkReplay>& runs, std::vector<MeetingState>& states,
                  StepLengths& lengths) {
  std::vector<char> done(runs.size(), 0);
  for (;;) {
    bool progress = false;
    std::size_t waiting = runs.size();
    for (std::size_t r = 0; r < runs.size(); ++r) {
      if (done[r] != 0) continue;
      const Index before = runs[r].held_by();
      done[r] = runs[r].run(lengths[r]) ? 1 : 0;
      progress = progress || done[r] != 0 || runs[r].held_by() != before;
      if (done[r] == 0 && waiting == runs.size()) waiting = r;
    }
    if (waiting == runs.size()) return;
    if (!progress) states[runs[waiting].held_by()].forced = true;
  }
}

}  // namespace

Meetings find_meetings(const std::vector<ReplayRank>& ranks, const model::CrossRank& cross) {
  Meetings meetings;
  meetings.of_activity.resize(ranks.size());
  meetings.chunk_start.resize(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    meetings.of_activity[r].assign(ranks[r].graph->activities.size(), kNone);
    meetings.chunk_start[r].assign(ranks[r].graph->chunks.size(), 0);
  }
  if (!cross.matched || ranks.size() < 2) return meetings;
  // By rank: activity row → position in the graph, for communication only.
  std::vector<std::vector<std::pair<Index, Index>>> rows(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const auto& activities = ranks[r].graph->activities;
    for (Index i = 0; i < activities.size(); ++i) {
      if (activities[i].role == ActivityRole::kComm) rows[r].emplace_back(activities[i].row, i);
    }
    std::sort(rows[r].begin(), rows[r].end());
  }
  const auto find = [&](std::size_t r, Index row) {
    const auto at =
        std::lower_bound(rows[r].begin(), rows[r].end(), std::pair<Index, Index>{row, 0});
    return at != rows[r].end() && at->first == row ? at->second : kNone;
  };
  std::vector<Index> found(ranks.size());
  for (const model::CollectiveMatch& match : cross.matches) {
    std::uint32_t members = 0;
    std::uint32_t present = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const Index row =
          ranks[r].position < match.activity.size() ? match.activity[ranks[r].position] : kNone;
      found[r] = row == kNone ? kNone : find(r, row);
      members += row == kNone ? 0 : 1;
      present += found[r] == kNone ? 0 : 1;
    }
    if (present < 2 || present < members) continue;
    const auto id = static_cast<Index>(meetings.ranks.size());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      if (found[r] != kNone) meetings.of_activity[r][found[r]] = id;
    }
    meetings.ranks.push_back(present);
  }
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (std::size_t c = 0; c < ranks[r].graph->chunks.size(); ++c) {
      const auto on_reference = [&](std::size_t k) {
        const model::TimeNs own = ranks[k].graph->chunks[c].start;
        return ranks[k].position < cross.clock.size()
                   ? cross.clock[ranks[k].position].to_reference(own)
                   : own;
      };
      meetings.chunk_start[r][c] = static_cast<double>(on_reference(r) - on_reference(0));
    }
  }
  return meetings;
}

StepLengths replay(const std::vector<ReplayRank>& ranks, const Meetings& meetings, const Edit& edit,
                   const ReplaySettings& settings) {
  StepLengths lengths(ranks.size());
  std::vector<ReplayPlan> plans;
  plans.reserve(ranks.size());
  for (const ReplayRank& rank : ranks) plans.emplace_back(rank, edit);
  const bool together = settings.comm == CommMode::kTogether && !meetings.ranks.empty();
  std::vector<MeetingState> states(together ? meetings.ranks.size() : 0);
  const std::size_t chunks = ranks.empty() ? 0 : ranks.front().graph->chunks.size();
  for (std::size_t c = 0; c < chunks; ++c) {
    std::vector<ChunkReplay> runs;
    runs.reserve(ranks.size());
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      runs.emplace_back(ranks[r], plans[r], ranks[r].graph->chunks[c], settings);
      if (together) {
        runs.back().meet(meetings.of_activity[r], meetings.ranks, states,
                         meetings.chunk_start[r][c]);
      }
    }
    run_together(runs, states, lengths);
  }
  return lengths;
}

double loader_time(const ReplayRank& rank, const Edit& edit, ProfilerLevel level) {
  const ReplayPlan plan(rank, edit);
  double total = 0;
  for (const GraphItem& item : rank.graph->items) {
    if (item.regions != kNone) total += plan.host_time(*rank.graph, item, level).input;
  }
  return total / std::max<Index>(1, rank.graph->step_count());
}

}  // namespace pyrometer::analysis

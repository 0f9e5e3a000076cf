#include "analysis/balance.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/comm.h"

namespace pyrometer::analysis {
namespace {

using model::at;
using model::Cause;
using model::CauseGroup;
using model::CollectiveMatch;
using model::DurationNs;
using model::FactId;
using model::Index;
using model::kNone;
using model::RankBalanceRow;
using model::TimeNs;

// Waiting below this share of device time names no slow rank: it is the jitter of a healthy run.
constexpr double kLeastSkewShare = 0.01;
// A slow rank causes this part of all waiting, in small jobs; in larger ones at least this multiple
// of its fair share is enough.
constexpr double kMostOfWaiting = 0.6;
constexpr double kTimesFairShare = 2.5;
// What explains less than this part of the lag is not named as its cause.
constexpr double kLeastPartOfLag = 0.25;

DurationNs group_time(const model::CauseTimes& causes, CauseGroup group) {
  DurationNs sum = 0;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    if (model::cause_info(static_cast<Cause>(i)).group == group) sum += causes[i];
  }
  return sum;
}

class Comparison {
 public:
  Comparison(const model::Timeline& timeline, model::JobAnalysis& job)
      : timeline_(timeline), job_(job), cross_(job.cross) {}

  void run() {
    for (std::size_t r = 0; r < job_.ranks.size(); ++r) cross_.balance.push_back(row_of(r));
    if (!cross_.matched) return;
    count_lateness();
    add_caused_waits();
    cross_.imbalance = imbalance();
    cross_.slow_rank = slow_rank();
    if (cross_.slow_rank != kNone) cross_.slow_cause = slow_cause(cross_.slow_rank);
  }

 private:
  // Divides a sum over the steps (over the window where there are none) by steps and devices.
  [[nodiscard]] double per_step(std::size_t r, DurationNs sum) const {
    const auto steps = std::max<std::size_t>(1, job_.ranks[r].steps.steps.size());
    const auto devices = std::max<std::size_t>(1, job_.ranks[r].waterfall.devices.size());
    return static_cast<double>(sum) / static_cast<double>(steps * devices);
  }

  [[nodiscard]] static model::CauseTimes causes_of_steps(const model::RankAnalysis& rank) {
    if (rank.steps.steps.empty()) return rank.waterfall.causes;
    model::CauseTimes sum{};
    for (const model::DeviceWaterfall& device : rank.waterfall.devices) {
      for (const model::CauseTimes& step : device.steps) {
        for (std::size_t i = 0; i < model::kCauseCount; ++i) sum[i] += step[i];
      }
    }
    return sum;
  }

  [[nodiscard]] RankBalanceRow row_of(std::size_t r) const {
    const model::RankAnalysis& rank = job_.ranks[r];
    const model::CauseTimes causes = causes_of_steps(rank);
    RankBalanceRow row;
    row.rank = timeline_.ranks[r].info.rank;
    row.step_mean_ns = static_cast<double>(rank.steps.steps.empty()
                                               ? balance_span(timeline_.ranks[r], rank).length()
                                               : rank.steps.stats.mean);
    row.compute_ns = per_step(r, group_time(causes, CauseGroup::kCompute));
    row.idle_ns = per_step(
        r, group_time(causes, CauseGroup::kIdle) + group_time(causes, CauseGroup::kUnattributed));
    row.exposed_comm_ns = per_step(r, group_time(causes, CauseGroup::kComm));
    row.waiting_ns = per_step(r, at(causes, Cause::kCommSkew));
    const OwnTime own = own_time(timeline_.ranks[r], rank);
    row.own_compute_ns = per_step(r, own.compute);
    row.own_copy_ns = per_step(r, own.copy);
    row.own_input_ns = per_step(r, own.input);
    row.own_host_ns = per_step(r, own.host);
    return row;
  }

  void count_lateness() {
    std::vector<double> seen(cross_.balance.size(), 0);
    for (const CollectiveMatch& match : cross_.matches) {
      for (std::size_t r = 0; r < seen.size(); ++r) seen[r] += match.activity[r] != kNone ? 1 : 0;
      cross_.balance[match.last_rank].late_share += 1;
    }
    for (std::size_t r = 0; r < seen.size(); ++r) {
      if (seen[r] > 0) cross_.balance[r].late_share /= seen[r];
    }
  }

  // Exposed waiting of every rank, charged to the rank that came last.
  void add_caused_waits() {
    for (std::size_t r = 0; r < job_.ranks.size(); ++r) {
      const model::RankTimeline& t = timeline_.ranks[r];
      const model::CommTable& comm = job_.ranks[r].comm;
      if (comm.last_arrival.empty()) continue;
      const model::Interval window = balance_span(t, job_.ranks[r]);
      std::vector<IntervalSet> compute;
      for (const model::Device& device : t.devices) {
        compute.push_back(compute_time(t, job_.ranks[r], device));
      }
      for (const CollectiveMatch& match : cross_.matches) {
        const Index i = match.activity[r];
        if (i == kNone || match.last_rank == r) continue;
        const TimeNs from = std::max(t.activities.start[i], window.start);
        const TimeNs to = std::min(comm.last_arrival[i], window.end);
        if (to <= from) continue;
        const DurationNs hidden = compute[t.activities.device[i]].length_within({from, to});
        cross_.balance[match.last_rank].caused_wait_ns += per_step(r, to - from - hidden);
      }
    }
  }

  [[nodiscard]] static double not_waiting(const RankBalanceRow& row) {
    return row.step_mean_ns - row.waiting_ns;
  }

  [[nodiscard]] double imbalance() const {
    double least = not_waiting(cross_.balance.front());
    double most = least;
    double sum = 0;
    for (const RankBalanceRow& row : cross_.balance) {
      least = std::min(least, not_waiting(row));
      most = std::max(most, not_waiting(row));
      sum += not_waiting(row);
    }
    return sum > 0 ? (most - least) * static_cast<double>(cross_.balance.size()) / sum : 0;
  }

  [[nodiscard]] Index slow_rank() const {
    const auto by_wait = [](const RankBalanceRow& a, const RankBalanceRow& b) {
      return a.caused_wait_ns < b.caused_wait_ns;
    };
    const auto slowest = std::max_element(cross_.balance.begin(), cross_.balance.end(), by_wait);
    double waited = 0;
    double time = 0;
    for (const RankBalanceRow& row : cross_.balance) {
      waited += row.caused_wait_ns;
      time += row.step_mean_ns;
    }
    const double ranks = static_cast<double>(cross_.balance.size());
    const double enough = std::min(kMostOfWaiting, kTimesFairShare / ranks);
    if (waited < kLeastSkewShare * time || slowest->caused_wait_ns < enough * waited) return kNone;
    return static_cast<Index>(slowest - cross_.balance.begin());
  }

  // Mean of a figure over all ranks but one.
  template <typename Figure>
  [[nodiscard]] double mean_of_others(Index rank, Figure figure) const {
    double sum = 0;
    for (std::size_t r = 0; r < cross_.balance.size(); ++r) {
      if (r != rank) sum += figure(cross_.balance[r]);
    }
    return sum / static_cast<double>(cross_.balance.size() - 1);
  }

  [[nodiscard]] std::string slow_cause(Index slow) const {
    struct Part {
      std::string_view name;
      double RankBalanceRow::*time;
    };
    static constexpr std::array kParts = {Part{"compute", &RankBalanceRow::own_compute_ns},
                                          Part{"input", &RankBalanceRow::own_input_ns},
                                          Part{"host", &RankBalanceRow::own_host_ns},
                                          Part{"copy", &RankBalanceRow::own_copy_ns}};
    const RankBalanceRow& row = cross_.balance[slow];
    const double lag = not_waiting(row) - mean_of_others(slow, not_waiting);
    std::string_view cause;
    double most = kLeastPartOfLag * lag;
    for (const Part& part : kParts) {
      const double more = row.*part.time - mean_of_others(slow, [&](const RankBalanceRow& r) {
                            return r.*part.time;
                          });
      if (more > 0 && more > most) {
        most = more;
        cause = part.name;
      }
    }
    return std::string(cause);
  }

  const model::Timeline& timeline_;
  model::JobAnalysis& job_;
  model::CrossRank& cross_;
};

void set_skew_share(const model::CauseTimes& causes, model::FactSet& facts) {
  const auto whole = static_cast<double>(model::total(causes));
  if (whole > 0) {
    facts.set(FactId::kCommSkewShare, static_cast<double>(at(causes, Cause::kCommSkew)) / whole);
  } else {
    facts.set_missing(FactId::kCommSkewShare, "no device activity was recorded");
  }
}

constexpr std::array kJobFacts = {FactId::kBalanceImbalance, FactId::kBalanceSlowRank,
                                  FactId::kBalanceSlowCause};

void set_rank_facts(model::JobAnalysis& job) {
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    model::FactSet& facts = job.ranks[r].facts;
    for (const FactId id : kJobFacts) facts.set_missing(id, "it is measured on the whole job");
    if (job.cross.matched && !job.ranks[r].comm.last_arrival.empty()) {
      set_skew_share(job.ranks[r].waterfall.causes, facts);
      facts.set(FactId::kBalanceLateShare, job.cross.balance[r].late_share);
    } else {
      const std::string reason = job.cross.matched
                                     ? "none of this rank's collectives was found on another rank"
                                     : job.cross.how;
      facts.set_missing(FactId::kCommSkewShare, reason);
      facts.set_missing(FactId::kBalanceLateShare, reason);
    }
  }
}

void set_job_facts(model::JobAnalysis& job) {
  model::FactSet& facts = job.facts;
  const model::CrossRank& cross = job.cross;
  if (!cross.matched) {
    for (const FactId id : kJobFacts) facts.set_missing(id, cross.how);
    facts.set_missing(FactId::kCommSkewShare, cross.how);
    facts.set_missing(FactId::kBalanceLateShare, cross.how);
    return;
  }
  set_skew_share(job.causes, facts);
  facts.set(FactId::kBalanceImbalance, cross.imbalance);
  if (cross.slow_rank == kNone) {
    for (const FactId id :
         {FactId::kBalanceSlowRank, FactId::kBalanceSlowCause, FactId::kBalanceLateShare}) {
      facts.set_missing(id, "no single rank is waited for");
    }
    return;
  }
  const RankBalanceRow& slow = cross.balance[cross.slow_rank];
  facts.set(FactId::kBalanceSlowRank, slow.rank);
  facts.set(FactId::kBalanceLateShare, slow.late_share);
  if (cross.slow_cause.empty()) {
    facts.set_missing(FactId::kBalanceSlowCause,
                      "no part of the slow rank's own time explains its lag");
  } else {
    facts.set_text(FactId::kBalanceSlowCause, cross.slow_cause);
  }
}

}  // namespace

void compare_ranks(const model::Timeline& timeline, model::JobAnalysis& job) {
  Comparison(timeline, job).run();
  set_rank_facts(job);
  set_job_facts(job);
}

}  // namespace pyrometer::analysis

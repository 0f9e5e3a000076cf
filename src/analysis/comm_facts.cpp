#include "analysis/comm_facts.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/comm.h"
#include "analysis/comm_names.h"

namespace pyrometer::analysis {
namespace {

using model::CommCall;
using model::CommTable;
using model::DurationNs;
using model::FactId;
using model::Index;
using model::kNone;

constexpr std::array kFacts = {FactId::kCommShare,
                               FactId::kCommExposedShare,
                               FactId::kCommOverlap,
                               FactId::kCommPerStep,
                               FactId::kCommBytesPerStep,
                               FactId::kCommBusBandwidth,
                               FactId::kCommRepeatedReductions};

std::size_t used_devices(const model::RankTimeline& t) {
  return static_cast<std::size_t>(
      std::count_if(t.devices.begin(), t.devices.end(),
                    [](const model::Device& d) { return d.activities.size() > 0; }));
}

// Message bytes per step, and bytes over the link with the time they took.
struct Volume {
  std::int64_t calls = 0, calls_with_bytes = 0;  // of the steps
  std::int64_t bytes = 0;
  double bus_bytes = 0;  // in the window
  DurationNs bus_time = 0;
};

Volume volume_of(const model::RankTimeline& t, const CommTable& table) {
  Volume v;
  for (const CommCall& call : table.calls) {
    if (call.of_steps) {
      ++v.calls;
      v.calls_with_bytes += call.bytes >= 0 ? 1 : 0;
      v.bytes += std::max<std::int64_t>(call.bytes, 0);
    }
    const double factor = bus_factor(call.collective, table.groups[call.group].size);
    if (call.row == kNone || call.bytes < 0 || factor == 0) continue;
    v.bus_bytes += factor * static_cast<double>(call.bytes);
    v.bus_time += t.activities.duration(call.activity);
  }
  return v;
}

void set_volume_facts(const model::RankTimeline& t, const CommTable& table, double steps,
                      model::FactSet& facts) {
  const Volume v = volume_of(t, table);
  const std::string sizes = "message sizes are given for " + std::to_string(v.calls_with_bytes) +
                            " of " + std::to_string(v.calls) + " communication kernels";
  if (steps == 0) {
    facts.set_missing(FactId::kCommPerStep, "no steps were found");
    facts.set_missing(FactId::kCommBytesPerStep, "no steps were found");
  } else {
    facts.set(FactId::kCommPerStep, static_cast<double>(v.calls) / steps);
    if (v.calls_with_bytes == v.calls) {
      facts.set(FactId::kCommBytesPerStep, static_cast<double>(v.bytes) / steps);
    } else {
      facts.set_missing(FactId::kCommBytesPerStep, sizes);
    }
  }
  if (v.bus_time > 0) {
    facts.set(FactId::kCommBusBandwidth, v.bus_bytes / static_cast<double>(v.bus_time));
  } else {
    facts.set_missing(FactId::kCommBusBandwidth, table.calls.empty()
                                                     ? "there is no communication"
                                                     : sizes + ", with the size of their group");
  }
}

// Window times devices: what shares refer to.
double device_time(const model::RankTimeline& t, const model::RankAnalysis& a) {
  return static_cast<double>(comm_window(t, a).length()) * static_cast<double>(used_devices(t));
}

// Bus bandwidth of collectives that were seen on every rank: from the last arrival to the end, as
// the last rank saw it, since it waits for nobody. GB/s; 0 when there is none.
double matched_bandwidth(const model::Timeline& timeline, const model::CrossRank& cross) {
  double bytes = 0;
  DurationNs time = 0;
  for (const model::CollectiveMatch& match : cross.matches) {
    if (!match.complete || match.bytes < 0) continue;
    const double factor = bus_factor(match.collective, match.group_size);
    if (factor == 0) continue;
    bytes += factor * static_cast<double>(match.bytes);
    time += timeline.ranks[match.last_rank].activities.duration(match.activity[match.last_rank]);
  }
  return time > 0 ? bytes / static_cast<double>(time) : 0;
}

// Mean over the ranks that have the fact; the first rank's reason where none has.
void set_mean(const model::JobAnalysis& job, FactId id, model::FactSet& facts) {
  double sum = 0;
  int count = 0;
  for (const model::RankAnalysis& rank : job.ranks) {
    if (const auto value = rank.facts.value(id)) {
      sum += *value;
      ++count;
    }
  }
  if (count > 0) {
    facts.set(id, sum / count);
  } else if (!job.ranks.empty()) {
    facts.set_missing(id, std::string(job.ranks.front().facts.missing_reason(id)));
  }
}

}  // namespace

void set_comm_facts(const model::RankTimeline& t, model::RankAnalysis& a) {
  model::FactSet& facts = a.facts;
  const CommTable& table = a.comm;
  const double span = device_time(t, a);
  if (span <= 0) {
    for (const FactId id : kFacts) facts.set_missing(id, "no device activity was recorded");
    return;
  }
  facts.set(FactId::kCommShare, static_cast<double>(table.total) / span);
  facts.set(FactId::kCommExposedShare, static_cast<double>(table.exposed) / span);
  if (table.overlap >= 0) {
    facts.set(FactId::kCommOverlap, table.overlap);
  } else {
    facts.set_missing(FactId::kCommOverlap, "there is no communication");
  }
  set_volume_facts(t, table, static_cast<double>(a.steps.steps.size()), facts);
  const RepeatedReductions repeated = repeated_reductions(t, a);
  if (repeated.missing.empty()) {
    facts.set(FactId::kCommRepeatedReductions, repeated.value);
  } else {
    facts.set_missing(FactId::kCommRepeatedReductions, std::string(repeated.missing));
  }
}

void set_job_comm_facts(const model::Timeline& timeline, model::JobAnalysis& job) {
  double span = 0;
  double total = 0;
  double exposed = 0;
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    span += device_time(timeline.ranks[r], job.ranks[r]);
    total += static_cast<double>(job.ranks[r].comm.total);
    exposed += static_cast<double>(job.ranks[r].comm.exposed);
  }
  model::FactSet& facts = job.facts;
  for (const FactId id : kFacts) set_mean(job, id, facts);
  if (span <= 0) return;
  facts.set(FactId::kCommShare, total / span);
  facts.set(FactId::kCommExposedShare, exposed / span);
  if (total > 0) facts.set(FactId::kCommOverlap, (total - exposed) / total);
  const double bandwidth = matched_bandwidth(timeline, job.cross);
  if (bandwidth > 0) facts.set(FactId::kCommBusBandwidth, bandwidth);
}

}  // namespace pyrometer::analysis

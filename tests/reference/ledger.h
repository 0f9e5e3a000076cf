// From HTA's figures to ours, one deliberate difference at a time.
#pragma once

#include <string>
#include <vector>

#include "model/analysis.h"
#include "model/timeline.h"
#include "tests/reference/hta_view.h"

namespace pyrometer::testing {

// What runs, each moment once: compute before communication before copies before the rest. ns.
struct BusyTimes {
  model::DurationNs compute = 0;
  model::DurationNs comm = 0;  // exposed
  model::DurationNs copy = 0;
  model::DurationNs other = 0;  // sync records alone: busy for HTA only
  [[nodiscard]] model::DurationNs busy() const { return compute + comm + copy + other; }
  friend bool operator==(const BusyTimes&, const BusyTimes&) = default;
};

struct LedgerLine {
  std::string what;
  BusyTimes after;  // with this difference and all above it
};

// First line: HTA as it comes. Last line: our definitions throughout, over our window.
[[nodiscard]] std::vector<LedgerLine> ledger(const model::RankTimeline& timeline,
                                             const model::RankAnalysis& analysis,
                                             const HtaOptions& options);

// The same from the waterfall.
[[nodiscard]] BusyTimes waterfall_times(const model::RankWaterfall& waterfall);

}  // namespace pyrometer::testing

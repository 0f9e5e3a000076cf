// The waterfall as people read it: named rows in the catalog's order, percentages that add up.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/analysis.h"
#include "model/waterfall.h"

namespace pyrometer::output {

// What a row is likely to be, of a row: recognised by its pattern, without a range in the trace.
struct WaterfallPart {
  std::string label;  // "likely checkpoint"
  model::DurationNs time = 0;
};

struct WaterfallRow {
  std::string label;
  model::CauseGroup group = model::CauseGroup::kCompute;
  bool avoidable = false;
  model::DurationNs time = 0;
  model::DurationNs step_time = 0;     // of it, within steps
  std::int64_t tenths = 0;             // of a percent of the whole
  std::vector<WaterfallPart> parts{};  // at least 0.5% of the whole each
};

// The rows of one half; its time and tenths are the sums of theirs.
struct WaterfallHalf {
  std::vector<WaterfallRow> rows;
  model::DurationNs time = 0;
  model::DurationNs step_time = 0;
  std::int64_t tenths = 0;
};

struct WaterfallView {
  WaterfallHalf busy;
  WaterfallHalf idle;  // unattributed included: it is not known to be busy
  model::DurationNs total = 0;
};

// Causes below 0.5% share one row per half, called "other …", unless there is only one of them;
// the largest of a half always has its own. All tenths add up to 1000 (or to 0 when there is
// no time at all).
[[nodiscard]] WaterfallView view_of(const model::JobAnalysis& job,
                                    const model::CauseTimes& step_causes);

// Whether any row has a part.
[[nodiscard]] bool has_parts(const WaterfallView& view);

}  // namespace pyrometer::output

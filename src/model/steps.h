// Result of the steps pass.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/types.h"

namespace pyrometer::model {

enum class StepSource : std::uint8_t {
  kNotFound,         // no steps could be found; the analysis covers the whole window only
  kProfilerMarkers,  // ProfilerStep#N annotations of the profiler
  kHook,             // the same, of a recording's Python hook
  kOptimizer,        // ends of Optimizer.step ranges
  kRepetition,       // the launch sequence repeats
};

struct Step {
  std::int64_t number = 0;  // as the marker says, else 0, 1, …
  Interval span;            // consecutive steps tile the window: span.end == next span.start
  Interval marker;          // the range itself, as recorded
};

// ns over steps. The mean leaves out what the window holds of work from before the first step: when
// the host runs ahead of the device, the device still has some at the first marker, and as much
// work of the last step after the last one. The others are of the steps' spans as they are.
struct StepStats {
  DurationNs mean = 0, p50 = 0, p95 = 0, min = 0, max = 0;
};

struct Steps {
  StepSource source = StepSource::kNotFound;
  std::string how;          // one sentence: where the steps come from
  std::vector<Step> steps;  // by time
  Interval window;          // the analysed window: all steps, device work of the last one included
  Interval recorded;        // first to last device activity; host events where there is none
  StepStats stats;          // over steps
  DurationNs backlog = 0;   // of the steps' time: work launched before the first step
  // Steps' worth of time that the spans hold: their number, and more where there is a backlog.
  [[nodiscard]] double worth() const {
    if (backlog == 0 || stats.mean == 0) return static_cast<double>(steps.size());
    return static_cast<double>(steps.back().span.end - steps.front().span.start) /
           static_cast<double>(stats.mean);
  }
};

}  // namespace pyrometer::model

// Judges runs against limits, for CI. Absent is never passed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verify/baseline.h"
#include "verify/bootstrap.h"
#include "verify/gate_limits.h"

namespace pyrometer::verify {

// In the order of how bad they are for the whole.
enum class Verdict : std::uint8_t { kPass, kInconclusive, kFail, kError };

struct Check {
  std::string name;      // "slowdown", "cost", a requirement's text …
  std::string measured;  // in words; empty where there is nothing
  std::string limit;     // in words
  Verdict verdict = Verdict::kError;
  std::string reason;  // why inconclusive or an error; empty else
  std::optional<double> value;
  Interval interval;  // of the value; known or not
};

struct GateResult {
  Verdict verdict = Verdict::kError;  // the worst of the checks
  std::vector<Check> checks;          // at least one
  std::vector<std::string> notes;
  std::size_t baseline_runs = 0, candidate_runs = 0;
};

// `baseline`: may be null where no limit needs one. `candidates` is not empty. With several runs on
// a side, what differs from run to run decides; with one on each, what differs from step to step,
// and a note says so. A limit inside the interval is inconclusive.
[[nodiscard]] GateResult judge(const Baseline* baseline, std::span<const RunSummary> candidates,
                               const Limits& limits);

}  // namespace pyrometer::verify

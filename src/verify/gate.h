// Judges runs against limits, for CI. Absent is never passed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/facts.h"
#include "verify/baseline.h"
#include "verify/bootstrap.h"

namespace pyrometer::verify {

enum class Relation : std::uint8_t { kAtLeast, kAtMost, kAbove, kBelow, kEqual, kUnequal };

// "kernels.count <= 400", "input.wait_share < 5%", "steps.p95 < 40ms".
struct Requirement {
  std::string text;  // as given
  model::FactId fact{};
  Relation relation = Relation::kAtMost;
  double value = 0;  // in the fact's unit
};

// Error kNotFound where it names no fact, else kUsage: says what is wrong with the text, as a
// clause that follows it.
[[nodiscard]] base::Result<Requirement> parse_requirement(std::string_view text);
// "3%" or "0.03", at least 0. Error kUsage as above: also 1 or more without %, which is 100% in
// writing and nearly always less in mind.
[[nodiscard]] base::Result<double> parse_share(std::string_view text);
// "20GiB", "512MB", above 0. Error kUsage as above: also a number without a unit.
[[nodiscard]] base::Result<double> parse_bytes(std::string_view text);

struct Limits {
  std::optional<double> max_slowdown;       // share, e.g. 0.03; needs a baseline
  std::optional<double> max_memory_growth;  // share; needs a baseline
  std::optional<double> max_memory;         // bytes
  std::optional<double> max_cost;           // USD for 1000 steps of all GPUs; needs a price
  std::optional<double> min_mfu;            // share
  std::vector<Requirement> requirements;
  // Of the intervals. Who looks several times, until something is decided, has to ask for more.
  double level = 0.95;
};

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

// The limits of a gate, and how people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/facts.h"

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

}  // namespace pyrometer::verify

#include "cli/tune_rows.h"

#include <array>
#include <charconv>
#include <utility>

namespace pyrometer::cli {
namespace {

using tune::Measurement;
using tune::Outcome;

constexpr std::array<std::pair<Outcome, std::string_view>, 5> kOutcomes = {{
    {Outcome::kMeasured, "measured"},
    {Outcome::kOutOfMemory, "out_of_memory"},
    {Outcome::kFailed, "failed"},
    {Outcome::kNotReached, "not_reached"},
    {Outcome::kExcluded, "excluded"},
}};

constexpr std::string_view kFinal = "final";

std::optional<tune::Point> point_of(std::string_view text, const tune::Space& space) {
  tune::Point point;
  while (true) {
    std::uint32_t position = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), position);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const bool separated = text.empty() || text.front() == ',';
    const bool known = point.size() < space.dimensions.size() &&
                       position < space.dimensions[point.size()].values.size();
    if (!separated || !known) return std::nullopt;
    point.push_back(position);
    if (text.empty()) break;
    text.remove_prefix(1);
  }
  if (point.size() != space.dimensions.size()) return std::nullopt;
  return point;
}

}  // namespace

recording::TuneRow row_of(const Measurement& one, const tune::Space& space) {
  recording::TuneRow row{.phase = std::string(one.is_final ? kFinal : "search"),
                         .round = one.round,
                         .rung = one.rung,
                         .reason = one.reason,
                         .seconds = one.seconds,
                         .steps = one.steps,
                         .gpus = one.gpus,
                         .step_ns = one.step_ns,
                         .samples_per_step = one.samples_per_step,
                         .usd_per_gpu_hour = one.usd_per_gpu_hour,
                         .joules_per_step = one.joules_per_step,
                         .peak_memory_bytes = one.peak_memory,
                         .loss = one.loss,
                         .seconds_to_loss = one.seconds_to_loss};
  for (std::size_t d = 0; d < one.point.size(); ++d) {
    row.point += (d == 0 ? "" : ",") + std::to_string(one.point[d]);
    row.values.emplace_back(space.dimensions[d].name, space.value(one.point, d));
  }
  for (const auto& [outcome, text] : kOutcomes) {
    if (outcome == one.outcome) row.outcome = text;
  }
  return row;
}

std::optional<Measurement> measurement_of(const recording::TuneRow& row, const tune::Space& space) {
  auto point = point_of(row.point, space);
  if (!point) return std::nullopt;
  Measurement one{.point = std::move(*point),
                  .is_final = row.phase == kFinal,
                  .round = static_cast<int>(row.round),
                  .rung = static_cast<int>(row.rung),
                  .reason = row.reason,
                  .seconds = row.seconds,
                  .steps = row.steps,
                  .step_ns = row.step_ns,
                  .samples_per_step = row.samples_per_step,
                  .gpus = row.gpus,
                  .usd_per_gpu_hour = row.usd_per_gpu_hour,
                  .joules_per_step = row.joules_per_step,
                  .peak_memory = row.peak_memory_bytes,
                  .loss = row.loss,
                  .seconds_to_loss = row.seconds_to_loss};
  for (const auto& [outcome, text] : kOutcomes) {
    if (text != row.outcome) continue;
    one.outcome = outcome;
    return one;
  }
  return std::nullopt;
}

}  // namespace pyrometer::cli

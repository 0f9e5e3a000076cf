// Parts of the JSON report. Each writes one value where the caller has set the key.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json_writer.h"
#include "model/kernels.h"
#include "model/waterfall.h"
#include "output/report.h"

namespace pyrometer::output {

// Whole nanoseconds; null where there is no number.
[[nodiscard]] inline std::optional<std::int64_t> whole_ns(double ns) {
  if (!std::isfinite(ns) || std::abs(ns) > 9e18) return std::nullopt;
  return std::llround(ns);
}
// The model writes −1 where a trace does not tell a number.
template <typename Number>
[[nodiscard]] std::optional<Number> if_known(Number number) {
  return number < 0 ? std::nullopt : std::optional<Number>(number);
}
[[nodiscard]] inline std::optional<std::string_view> if_given(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string_view>(text);
}

void write_job_json(base::JsonWriter& json, const Report& report);
void write_cross_rank_json(base::JsonWriter& json, const Report& report);
void write_findings_json(base::JsonWriter& json, const Report& report);
void write_prediction_json(base::JsonWriter& json, const std::optional<model::Prediction>& maybe);
void write_not_judged_json(base::JsonWriter& json, const Report& report);
void write_rank_json(base::JsonWriter& json, const model::RankTimeline& timeline,
                     const model::RankAnalysis& analysis);

// {"compute.tensor": {"ns": …, "share": …}, …}: every cause, in the catalog's order.
void write_causes_json(base::JsonWriter& json, const model::CauseTimes& causes);
// {"compute.tensor": …}: ns of the causes that have any, on one line.
void write_cause_ns_json(base::JsonWriter& json, const model::CauseTimes& causes);
void write_facts_json(base::JsonWriter& json, const model::FactSet& facts);

// Members count, total_ns, mean_ns, p50_ns, p95_ns and max_ns of an object that is open.
void write_stats_members(base::JsonWriter& json, const model::DurationStats& stats);

// Of a rank: steps, devices, tables.
void write_steps_json(base::JsonWriter& json, const model::RankAnalysis& analysis);
// Money, energy, efficiency and goodput of the run; null where nothing can be known of them.
void write_run_cost_json(base::JsonWriter& json, const Report& report);
void write_energy_json(base::JsonWriter& json, const Report& report);
void write_efficiency_json(base::JsonWriter& json, const Report& report);
void write_goodput_json(base::JsonWriter& json, const Report& report);
// The whole run of a recording; null without one.
void write_run_json(base::JsonWriter& json, const model::RecordedRun* run);
void write_devices_json(base::JsonWriter& json, const model::RankTimeline& timeline,
                        const model::RankAnalysis& analysis);
void write_kernels_json(base::JsonWriter& json, const model::RankTimeline& timeline,
                        const model::KernelTable& kernels);
void write_operators_json(base::JsonWriter& json, const model::RankTimeline& timeline,
                          const model::HostSide& host);
void write_blocking_calls_json(base::JsonWriter& json, const model::RankTimeline& timeline,
                               const model::HostSide& host);
void write_copies_json(base::JsonWriter& json, const model::Transfers& transfers);
void write_allocator_json(base::JsonWriter& json, const model::AllocatorStats& allocator);
void write_communication_json(base::JsonWriter& json, const model::CommTable& comm);
void write_pauses_json(base::JsonWriter& json, const model::Pauses& pauses, model::TimeNs origin);
void write_patterns_json(base::JsonWriter& json, const model::RankTimeline& timeline,
                         const model::RankAnalysis& analysis);

}  // namespace pyrometer::output

// The sentences that every report for people has, whatever it is written in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "output/report.h"
#include "output/table.h"

namespace pyrometer::output {

[[nodiscard]] std::string describe_files(const Report& report);  // names without their folders
[[nodiscard]] std::string describe_steps(const Report& report);  // "20 steps", "no steps found"
// "2 × NVIDIA H200 · ranks 0–1 of 8 · 20 steps · 1.50 s window"; the window is the longest one
// where ranks differ.
[[nodiscard]] std::string describe_job(const Report& report);
// "$2.50 per GPU-hour (--price): $60.00 a day for 1 GPU"; empty without a price or without a GPU.
[[nodiscard]] std::string describe_price(const Report& report);

// The step as recorded, and as it is without the profiler; of the rank that sets the pace.
struct StepTime {
  bool known = false;
  double recorded_ns = 0;
  bool corrected = false;  // false: `why_not` says why there is no figure without the profiler
  double without_profiler_ns = 0, low_ns = 0, high_ns = 0;
  std::string basis;  // of the correction
  std::string why_not;
  double replay_error = 0;  // of the unchanged replay; meaningful when corrected
  std::int32_t rank = -1;   // whose step it is; -1 when there is only one
};
[[nodiscard]] StepTime step_time(const Report& report);

// "36.6 ms as recorded, 33.1 ms (32.5–33.8 ms) without the profiler"; empty without steps.
[[nodiscard]] std::string describe_step_time(const Report& report);

// What must be known to read the waterfall right, a sentence each; first what its columns are of.
[[nodiscard]] std::vector<std::string> waterfall_notes(const Report& report);

// With a capital at its front and a full stop at its end.
[[nodiscard]] std::string sentence(std::string text);

// How far the report may be believed, a sentence each: where ranks and steps come from, how the
// profiler was taken out, how good the replay is. What the import lost and what was not judged
// stand apart.
[[nodiscard]] std::vector<std::string> trust_notes(const Report& report);

// "33.1 ms → 6.20 ms per step (5.61–7.02 ms), 5.3× as fast (4.7–5.9×)".
[[nodiscard]] std::string describe_prediction(const model::Prediction& prediction);

// How findings are ordered.
inline constexpr std::string_view kOrder =
    "In the order of what the fixes gain; severity says how much time the symptom takes.";

// "$58.10–60.30 a day on 1 GPU"; empty without a price or without a saving.
[[nodiscard]] std::string describe_saving(const Report& report,
                                          const model::Prediction& prediction);

// "pyrometer try --fix loader.workers -- COMMAND": what applies and measures the fix with no edit;
// empty where nothing does.
[[nodiscard]] std::string try_command(const model::Finding& finding);

// "measured 87.0%, threshold ≥ 20.0%".
[[nodiscard]] std::string describe_evidence(const model::Evidence& evidence);

// What the import dropped or mended, a sentence each, data loss first.
struct ImportNote {
  bool data_loss = false;
  std::string text;
};
[[nodiscard]] std::vector<ImportNote> import_notes(const Report& report);

// "6 checks could not be judged: …", one sentence; empty when all were.
[[nodiscard]] std::string describe_not_judged(const Report& report);

[[nodiscard]] bool no_finding_above_info(const model::Diagnosis& diagnosis);
// What to say then; not more than could be judged.
[[nodiscard]] std::string describe_health(const Report& report);

// Whether any finding has a prediction.
[[nodiscard]] bool any_prediction(const model::Diagnosis& diagnosis);

// Whether the report is of what `pyrometer run` recorded, not of a profiler's trace.
[[nodiscard]] bool is_recording(const Report& report);

// Whether predictions for all fixes together add something to those of the findings.
[[nodiscard]] bool joint_is_news(const model::Diagnosis& diagnosis);

// The rank that tables about one rank show: the slow one where it is known, else the first with
// device activity, else the first. kNone without ranks.
[[nodiscard]] model::Index detail_rank(const Report& report);

// "1 GPU", "8 GPUs".
[[nodiscard]] std::string count_of(std::int64_t count, const std::string& noun);

}  // namespace pyrometer::output

// What is known of a recording that may still be growing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/settings.h"
#include "model/generated/causes.h"
#include "rules/rule.h"

namespace pyrometer::server {

struct RankStatus {
  std::int32_t rank = 0;
  std::int64_t gpus = 0;
  std::int64_t steps = 0;  // since the start
  // Of the last minutes, see kRecent.
  std::optional<double> step_seconds;
  std::optional<double> samples_per_s;
  // Shares of the GPUs' time, by cause; they sum to 1. Empty where the GPU was not watched.
  std::optional<std::array<double, model::kCauseCount>> causes;
};

struct FindingStatus {
  std::string id;
  std::string severity;    // "info", "warning", "critical"
  std::string confidence;  // "low", "medium", "high"
  std::string title, summary, fix;
  std::vector<std::int32_t> ranks;
  double share_of_time = 0;
};

struct RecordingStatus {
  std::string name;  // under which it is served
  std::string path;
  bool is_growing = false;
  std::int64_t changed_ms = 0;  // Unix time
  std::int64_t bytes = 0;
  // Of the last time that it was read:
  std::int64_t analysed_ms = 0;  // Unix time; 0: not yet
  double analysis_seconds = 0;
  std::string problem;  // why it could not be; else empty
  std::string verdict;
  std::optional<double> usd_per_gpu_hour;
  // Of the whole run so far, all ranks; see docs/concepts/cost.md.
  std::optional<double> run_usd, gpu_joules, mfu, goodput;
  std::vector<RankStatus> ranks;
  std::vector<FindingStatus> findings;
  std::shared_ptr<const std::string> report;  // pyrometer.report/1; null without an analysis
};

// Means and shares are over the steps of this much time before the recording's end.
inline constexpr std::int64_t kRecentNs = 300'000'000'000;

// Reads and diagnoses the recording at `status.path` and fills in what was found. Takes as long as
// `pyrometer analyze`, on one thread. Never throws.
void analyse(RecordingStatus& status, const cost::Settings& cost, const rules::Settings& rules);

}  // namespace pyrometer::server

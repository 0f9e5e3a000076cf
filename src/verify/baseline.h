// What a gate compares with: a small JSON file that lives in the user's repository.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "base/result.h"
#include "verify/run_summary.h"

namespace pyrometer::verify {

struct BaselineRun {
  std::int64_t steps = 0;
  double step_ns = 0;
  std::optional<double> sample_ns;    // all ranks together
  std::optional<double> step_error;   // standard error of log(step_ns) within the run
  std::optional<double> peak_memory;  // bytes
};

struct Baseline {
  std::vector<std::string> gpus;  // sorted
  std::int64_t ranks = 0;
  std::optional<double> samples_per_step;
  std::vector<BaselineRun> runs;
  std::string tool;  // that wrote it
};

// Error kUnsupported where a run has no steps.
[[nodiscard]] base::Result<BaselineRun> baseline_run(const RunSummary& run);
[[nodiscard]] base::Result<Baseline> make_baseline(std::span<const RunSummary> runs);

// Schema pyrometer.baseline/1: docs/reference/baseline.schema.json.
bool write_baseline(const Baseline& baseline, const base::TextSink& sink);
// Errors: kNotFound, kPermission, kIo; kFormat where it is no baseline; kUnsupported for a version
// that is not known.
[[nodiscard]] base::Result<Baseline> read_baseline(const std::string& path);

}  // namespace pyrometer::verify

// What two runs are compared by: a run in small, without its events.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/analysis.h"
#include "model/finding.h"
#include "model/timeline.h"
#include "verify/energy_rows.h"
#include "verify/series.h"

namespace pyrometer::verify {

// A kernel, per step and GPU.
struct KernelUse {
  double calls = 0;  // per step
  double ns = 0;     // per step
  [[nodiscard]] double ns_per_call() const { return calls > 0 ? ns / calls : 0; }
};

struct FindingNote {
  std::string title;
  model::Severity severity = model::Severity::kInfo;
  double share_of_time = 0;
};

struct RunSummary {
  std::string label;        // the files it was read from, without folders
  bool recording = false;   // of `pyrometer run`; else a profiler's trace
  bool ended = true;        // false: still running, or the recorder was killed
  std::int32_t failed = 0;  // exit code or signal of a recorded command that failed
  std::string last_words;   // of a failed command's output; "" where there are none
  std::int64_t ranks = 0;
  std::int32_t world_size = -1;   // -1: not known
  std::vector<std::string> gpus;  // names of the devices that worked, sorted; "" where not known
  std::map<std::string, std::string> settings;  // what the hook tells of the program, first rank

  std::vector<Series> series;      // by rank, warm-up left out
  std::int64_t steps = 0;          // in `series`, of one rank (the one with the fewest)
  std::int64_t warm_up_steps = 0;  // left out, of the rank with the most
  bool warm_up_over = true;
  bool causes_known = false;  // a GPU was watched
  std::string why_no_steps;   // where `series` holds nothing
  // Samples of all ranks together, per second; absent: not known.
  std::optional<double> samples_per_s;
  std::optional<double> samples_per_step;

  std::map<std::string, KernelUse> kernels;
  std::string why_no_kernels;
  std::optional<double> peak_memory;  // bytes, of the device with the most
  std::string why_no_memory;
  EnergyRows energy;                            // of the GPUs, warm-up left out
  std::map<std::string, FindingNote> findings;  // by id, information left out
  model::Diagnosis diagnosis;                   // all of it
  std::optional<double> mfu;                    // 0–1
  std::string why_no_mfu;
  std::optional<double> usd_per_gpu_hour;
  std::string why_no_price;               // where one was asked for
  std::optional<double> joules_per_step;  // of all GPUs of the job
  std::string why_no_energy;
  // Of the job first, then of each rank: a fact stands in one or the other.
  std::vector<model::FactSet> facts;
};

// Never fails: what is not known stays empty, with the reason.
[[nodiscard]] RunSummary summarise(const model::Timeline& timeline, const model::JobAnalysis& job,
                                   const model::Diagnosis& diagnosis, std::string label);

// Mean ns of a step over all ranks; absent without steps.
[[nodiscard]] std::optional<double> step_ns(const RunSummary& run);

}  // namespace pyrometer::verify

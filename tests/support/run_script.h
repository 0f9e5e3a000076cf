// Recorded runs made by hand, for tests of what rules make of the machine's counters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "model/finding.h"
#include "model/run.h"
#include "model/timeline.h"

namespace pyrometer::testing {

// A run of 70 s: 600 steps of 100 ms from second 5 to 65, readings once a second throughout, events
// of 20 steps. Process 100 trains, on GPU 0 unless said otherwise.
struct RunShape {
  double input = 0;      // of the step: wait for the loader, at its begin
  bool workers = true;   // the loader has worker processes
  double kernels = 0.9;  // of the rest of the step: kernels run; the host waits for them
  bool gpu = true;
  std::string batch;       // of the wait: "batch ready", "batch not pinned"
  std::string pause = {};  // annotation of a pause after the wait, such as "validation"
  double paused = 0;       // of the step
  double own = 0;          // of the step: the program's own code, after the pause
  std::string kernel = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_cublas";
};

class RunScript {
 public:
  static constexpr std::int32_t kPid = 100;
  static constexpr double kSeconds = 70;

  explicit RunScript(const RunShape& shape = {});

  [[nodiscard]] model::RecordedRun& run() { return *run_; }

  // Readings once a second.
  RunScript& series(std::string_view object, std::string_view name,
                    const std::function<double(double second)>& value);
  RunScript& gauge(std::string_view object, std::string_view name, double value);
  // Grows by so much per second.
  RunScript& grows(std::string_view object, std::string_view name, double per_second);
  RunScript& text(std::string_view object, std::string_view name, std::string_view text);
  RunScript& info(std::string_view key, std::string_view value);

  // A machine of so many CPUs, of which the command uses and others use so many.
  RunScript& machine(double cpus, double own, double others = 0);
  // The training thread is ready and has no CPU for this share of the time.
  RunScript& waits_for_cpu(double share, double threads = 0);
  // Loader workers: share of their time in which they compute, and in which they are ready.
  RunScript& loader_workers(int count, double cpu, double run_wait, double allowed = 64);

  [[nodiscard]] model::Diagnosis diagnose() const;

 private:
  RunShape shape_;
  std::shared_ptr<model::RecordedRun> run_;
};

// "warning host.cpu_quota" … in order, without information; empty for a healthy run.
[[nodiscard]] std::string causes_of(const model::Diagnosis& diagnosis);
[[nodiscard]] const model::Finding* find(const model::Diagnosis& diagnosis, std::string_view id);

}  // namespace pyrometer::testing

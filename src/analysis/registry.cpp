#include "analysis/allocator.h"
#include "analysis/balance.h"
#include "analysis/comm.h"
#include "analysis/comm_match.h"
#include "analysis/copies.h"
#include "analysis/critical_path.h"
#include "analysis/device_state.h"
#include "analysis/dilation.h"
#include "analysis/host_created.h"
#include "analysis/host_load.h"
#include "analysis/input_waits.h"
#include "analysis/kernel_classes.h"
#include "analysis/kernels.h"
#include "analysis/launch.h"
#include "analysis/loader_workers.h"
#include "analysis/memory_curve.h"
#include "analysis/ops.h"
#include "analysis/optimizer.h"
#include "analysis/pass.h"
#include "analysis/patterns.h"
#include "analysis/pauses.h"
#include "analysis/replay_pass.h"
#include "analysis/run_course.h"
#include "analysis/steps.h"
#include "analysis/syncs.h"
#include "analysis/waterfall.h"

namespace pyrometer::analysis {

const std::vector<Pass>& all_passes() {
  // Order matters: a pass may use the results of those above it.
  static const std::vector<Pass> passes = {
      {"classes", classify_names, nullptr},
      {"steps", find_steps, nullptr},
      {"kernels", tabulate_kernels, nullptr},
      {"ops", measure_ops, nullptr},
      {"optimizer", measure_optimizer, nullptr},
      {"launch", measure_launches, nullptr},
      {"syncs", measure_syncs, nullptr},
      {"copies", measure_copies, nullptr},
      {"host_created", find_host_created, nullptr},
      {"allocator", measure_allocator, nullptr},
      {"memory_curve", measure_memory, nullptr},
      {"patterns", find_patterns, nullptr},
      {"dilation", estimate_dilation, nullptr},
      {"comm", find_communication, nullptr},
      {"comm_match", nullptr, match_collectives},
      {"waterfall", compute_waterfall, nullptr},
      {"waterfall_job", nullptr, sum_waterfalls},
      {"input", measure_input_waits, nullptr},
      {"pauses", find_pauses, nullptr},
      {"host_load", measure_host_load, nullptr},
      {"loader_workers", measure_loader_workers, nullptr},
      {"device_state", measure_device_state, nullptr},
      {"run_course", measure_run_course, nullptr},
      {"critical_path", find_critical_path, nullptr},
      {"balance", nullptr, compare_ranks},
      {"replay", nullptr, nullptr, replay_steps},
  };
  return passes;
}

}  // namespace pyrometer::analysis

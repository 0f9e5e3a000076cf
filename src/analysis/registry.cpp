#include "analysis/balance.h"
#include "analysis/comm.h"
#include "analysis/comm_match.h"
#include "analysis/dilation.h"
#include "analysis/input_waits.h"
#include "analysis/kernel_classes.h"
#include "analysis/pass.h"
#include "analysis/pauses.h"
#include "analysis/replay_pass.h"
#include "analysis/steps.h"
#include "analysis/waterfall.h"

namespace pyrometer::analysis {

const std::vector<Pass>& all_passes() {
  // Order matters: a pass may use the results of those above it.
  static const std::vector<Pass> passes = {
      {"classes", classify_names, nullptr},
      {"steps", find_steps, nullptr},
      {"dilation", estimate_dilation, nullptr},
      {"comm", find_communication, nullptr},
      {"comm_match", nullptr, match_collectives},
      {"waterfall", compute_waterfall, nullptr},
      {"waterfall_job", nullptr, sum_waterfalls},
      {"input", measure_input_waits, nullptr},
      {"pauses", find_pauses, nullptr},
      {"balance", nullptr, compare_ranks},
      {"replay", nullptr, replay_steps},
  };
  return passes;
}

}  // namespace pyrometer::analysis

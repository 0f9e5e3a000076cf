#include "analysis/kernel_classes.h"
#include "analysis/pass.h"
#include "analysis/steps.h"
#include "analysis/waterfall.h"

namespace pyrometer::analysis {

const std::vector<Pass>& all_passes() {
  // Order matters: a pass may use the results of those above it.
  static const std::vector<Pass> passes = {
      {"classes", classify_names, nullptr},
      {"steps", find_steps, nullptr},
      {"waterfall", compute_waterfall, nullptr},
      {"waterfall_job", nullptr, sum_waterfalls},
  };
  return passes;
}

}  // namespace pyrometer::analysis

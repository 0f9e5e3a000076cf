#include "analysis/pass.h"

namespace pyrometer::analysis {

const std::vector<Pass>& all_passes() {
  // Order matters: a pass may use the results of those above it.
  static const std::vector<Pass> passes = {};
  return passes;
}

}  // namespace pyrometer::analysis

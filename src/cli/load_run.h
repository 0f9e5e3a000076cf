// From a file that holds a run to what runs are compared by.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cost/settings.h"
#include "rules/rule.h"
#include "verify/run_summary.h"

namespace pyrometer::cli {

struct LoadOptions {
  unsigned threads = 0;   // 0: one per core
  bool progress = false;  // on stderr
  rules::Settings rules;
  cost::Settings cost;
};

// `path`: a recording, a trace, or a folder or archive with the traces of one job's ranks. What was
// left out of it is said on stderr.
[[nodiscard]] base::Result<verify::RunSummary> load_run(const std::string& path,
                                                        const LoadOptions& options);
[[nodiscard]] base::Result<std::vector<verify::RunSummary>> load_runs(
    const std::vector<std::string>& paths, const LoadOptions& options);

}  // namespace pyrometer::cli

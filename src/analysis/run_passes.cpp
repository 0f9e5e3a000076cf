#include <algorithm>

#include "analysis/pass.h"
#include "base/parallel.h"

namespace pyrometer::analysis {
namespace {

using PassIterator = std::vector<Pass>::const_iterator;

// Rank passes [first, last), in order, on every rank.
void run_on_ranks(PassIterator first, PassIterator last, const model::Timeline& timeline,
                  model::JobAnalysis& job, unsigned threads) {
  base::for_each_index(timeline.ranks.size(), threads, [&](std::size_t i) {
    for (auto pass = first; pass != last; ++pass) pass->rank(timeline.ranks[i], job.ranks[i]);
  });
}

}  // namespace

model::JobAnalysis run_passes(const model::Timeline& timeline, const RunOptions& options) {
  const unsigned threads = base::thread_count(options.threads);
  model::JobAnalysis job;
  job.ranks.resize(timeline.ranks.size());
  const std::vector<Pass>& passes = all_passes();
  for (auto pass = passes.begin(); pass != passes.end();) {
    if (pass->rank == nullptr) {
      if (pass->job != nullptr) pass->job(timeline, job);
      if (pass->wide != nullptr) pass->wide(timeline, job, options);
      ++pass;
      continue;
    }
    const auto last =
        std::find_if(pass, passes.end(), [](const Pass& p) { return p.rank == nullptr; });
    run_on_ranks(pass, last, timeline, job, threads);
    pass = last;
  }
  return job;
}

}  // namespace pyrometer::analysis

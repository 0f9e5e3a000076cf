#include <algorithm>
#include <atomic>
#include <thread>

#include "analysis/pass.h"

namespace pyrometer::analysis {
namespace {

using PassIterator = std::vector<Pass>::const_iterator;

// Rank passes [first, last), in order, on every rank.
void run_on_ranks(PassIterator first, PassIterator last, const model::Timeline& timeline,
                  model::JobAnalysis& job, unsigned threads) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < timeline.ranks.size(); i = next++) {
      for (auto pass = first; pass != last; ++pass) pass->rank(timeline.ranks[i], job.ranks[i]);
    }
  };
  const std::size_t helpers =
      std::min<std::size_t>(threads, timeline.ranks.size()) - (timeline.ranks.empty() ? 0 : 1);
  std::vector<std::jthread> pool;
  for (std::size_t i = 0; i < helpers; ++i) pool.emplace_back(work);
  work();
}

}  // namespace

model::JobAnalysis run_passes(const model::Timeline& timeline, const RunOptions& options) {
  const unsigned threads =
      options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  model::JobAnalysis job;
  job.ranks.resize(timeline.ranks.size());
  const std::vector<Pass>& passes = all_passes();
  for (auto pass = passes.begin(); pass != passes.end();) {
    if (pass->job != nullptr) {
      pass->job(timeline, job);
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

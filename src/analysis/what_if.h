// The replay model: what a step would take if something were different.
//
// One engine answers every what-if. A step is replayed as a graph: host launches in issue order
// with the host time between them, device activities in stream order, waits between streams,
// blocking calls, and collectives that end when the last rank has arrived. Replayed unchanged it
// must give the measured step. An edit changes parameters and the graph is replayed again. Model:
// docs/concepts/replay.md.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/analysis.h"
#include "model/finding.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

// Scale factors on parts of the replayed step; 1 = unchanged, 0 = gone. A rule fills in what its
// fix changes, once for the best case, once for the expected and once for the worst.
struct Edit {
  // Host time between launches, split by what the host did there.
  double input_wait = 1;  // inside the data loader's __next__
  double checkpoint = 1, validation = 1, logging = 1, gc = 1, compile = 1;
  double alloc_calls = 1;  // device allocation and free calls
  double host_other = 1;   // outside operators and calls
  double host_ops = 1;     // operators and launch calls (issue time)
  double cpu_ops = 1;      // of these, operators that launch nothing (CPU tensor work, views)
  // The loader's wait per step becomes at most this many ns (< 0: no cap).
  double input_wait_cap_ns = -1;
  // The loader's work moves to this many background workers (0: off): what remains exposed is
  // max(0, input wait × input_wait / workers − the rest of the step).
  double loader_workers = 0;

  // Blocking calls: false removes the edge, the host goes on at once.
  bool remove_syncs = false;
  // Operators and launches that only feed removed syncs (e.g. aten::item and its copy): their host
  // and device time goes too, by this factor.
  double sync_feeding_ops = 1;
  // Only blocking calls reached from these operators or APIs (names); empty = all of them.
  std::vector<std::string> sync_names;

  // Kernels for which `applies` (when set) and `applies_to_name` (when set) hold. Ids of names
  // differ between ranks: judge by traits or by text, unless there is one rank.
  struct KernelScale {
    std::function<bool(const model::KernelTraits&, model::NameId)> applies;
    std::function<bool(std::string_view)> applies_to_name;
    double time = 1;  // device time factor; 0 removes the kernels
    double host = 1;  // factor on the host time of launching them; 0 removes the launches
  };
  std::vector<KernelScale> kernels;

  // Host-to-device and device-to-host copies.
  double h2d_time = 1, d2h_time = 1;  // device time factor
  double copy_host = 1;               // host time factor of issuing copies
  double copy_feeding_ops = 1;        // CPU operators right before a h2d copy, which make its data
  bool copies_async = false;          // pageable and blocking copies no longer block the host
  bool h2d_overlapped = false;  // h2d copies leave the compute stream (own stream, prefetched)

  // Annotations whose host and device time scale (e.g. "Optimizer.step"): prefix of the name.
  struct RangeScale {
    std::string prefix;
    double host = 1;
    double device = 1;
  };
  std::vector<RangeScale> ranges;

  // Collectives.
  bool no_skew = false;  // every rank takes the mean of the ranks' own times
  double skew_to_fastest =
      0;                 // with no_skew: 0 the mean, 1 the fastest rank's time, linear between
  double comm_time = 1;  // transfer time factor
  double comm_count_keep = 1;  // share of reductions that stay (no_sync: 1/accumulation)

  // One launch per step (CUDA graph): a step's operators and launch calls take this many ns in all
  // (< 0: off). `host_other` still scales the host's other time.
  double graph_launch_ns = -1;

  // Batch size × this. Host issue time stays, copies and the loader's work grow with it, device
  // time grows where the kernel already fills the device. Step times are given per original number
  // of samples: the longer step divided by this factor.
  double batch = 1;
};

// The edit that applies both; factors multiply, flags or.
[[nodiscard]] Edit combine(const Edit& a, const Edit& b);

class WhatIf {
 public:
  // Builds the step graphs, with so many threads (0: one per core). Keeps references to the ranks
  // of both arguments.
  WhatIf(const model::Timeline& timeline, const model::JobAnalysis& analysis, unsigned threads = 1);
  ~WhatIf();
  WhatIf(const WhatIf&) = delete;
  WhatIf& operator=(const WhatIf&) = delete;

  [[nodiscard]] bool available() const;
  [[nodiscard]] const model::ReplayBaseline& baseline() const;  // job level: slowest-rank mean step
  // Of the rank at a position of Timeline::ranks, replayed together with the others.
  [[nodiscard]] const model::ReplayBaseline& rank_baseline(std::size_t position) const;

  // Mean step time of the job with the edit applied to every rank, on host time corrected by
  // `per_op_ns` (a value of model::Dilation; the middle one by default when negative), ns.
  [[nodiscard]] double step_ns(const Edit& edit, double per_op_ns = -1) const;

  // Prediction from three edits; widens the range by the dilation's uncertainty and the baseline
  // error.
  [[nodiscard]] model::Prediction predict(const Edit& best, const Edit& expected, const Edit& worst,
                                          std::string model_in_words) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pyrometer::analysis

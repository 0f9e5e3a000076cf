#include <algorithm>

#include "analysis/what_if.h"

namespace pyrometer::analysis {
namespace {

template <typename T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

// The tighter of two caps; negative: none.
double tighter(double a, double b) {
  if (a < 0) return b;
  if (b < 0) return a;
  return std::min(a, b);
}

void combine_syncs(Edit& out, const Edit& a, const Edit& b) {
  out.remove_syncs = a.remove_syncs || b.remove_syncs;
  out.sync_feeding_ops = std::min(a.sync_feeding_ops, b.sync_feeding_ops);
  out.sync_names.clear();
  // An empty list means every blocking call.
  const bool all =
      (a.remove_syncs && a.sync_names.empty()) || (b.remove_syncs && b.sync_names.empty());
  if (all) return;
  if (a.remove_syncs) append(out.sync_names, a.sync_names);
  if (b.remove_syncs) append(out.sync_names, b.sync_names);
}

}  // namespace

Edit combine(const Edit& a, const Edit& b) {
  Edit out = a;
  out.input_wait *= b.input_wait;
  out.checkpoint *= b.checkpoint;
  out.validation *= b.validation;
  out.logging *= b.logging;
  out.gc *= b.gc;
  out.compile *= b.compile;
  out.alloc_calls *= b.alloc_calls;
  out.host_other *= b.host_other;
  out.host_ops *= b.host_ops;
  out.cpu_ops *= b.cpu_ops;
  out.input_wait_cap_ns = tighter(a.input_wait_cap_ns, b.input_wait_cap_ns);
  out.loader_workers = std::max(a.loader_workers, b.loader_workers);
  combine_syncs(out, a, b);
  append(out.kernels, b.kernels);
  out.h2d_time *= b.h2d_time;
  out.d2h_time *= b.d2h_time;
  out.copy_host *= b.copy_host;
  out.copy_feeding_ops *= b.copy_feeding_ops;
  out.copies_async = a.copies_async || b.copies_async;
  out.h2d_overlapped = a.h2d_overlapped || b.h2d_overlapped;
  append(out.ranges, b.ranges);
  out.no_skew = a.no_skew || b.no_skew;
  out.skew_to_fastest = std::max(a.skew_to_fastest, b.skew_to_fastest);
  out.comm_time *= b.comm_time;
  out.comm_count_keep *= b.comm_count_keep;
  out.graph_launch_ns = tighter(a.graph_launch_ns, b.graph_launch_ns);
  out.batch *= b.batch;
  return out;
}

}  // namespace pyrometer::analysis

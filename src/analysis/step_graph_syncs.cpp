// How waits were reached, and what only feeds them.
#include <algorithm>
#include <unordered_map>

#include "analysis/step_graph_builder.h"

namespace pyrometer::analysis::graph {
namespace {

using model::Index;
using model::KernelClass;
using model::kNone;

// A device-to-host copy up to this size is a value read by the program (item() and the like).
constexpr std::int64_t kValueBytes = 256;

// The outermost tensor operator around `call`: the chain of parents is followed while it stays
// within aten, so that neither an autograd node nor a compiled region counts as one operator.
Index tensor_op(const model::RankTimeline& t, Index call) {
  Index op = call == kNone ? kNone : t.api_calls.op[call];
  while (op != kNone) {
    const Index parent = t.host_ops.parent[op];
    if (parent == kNone || !t.name(t.host_ops.name[parent]).starts_with("aten::")) break;
    op = parent;
  }
  return op;
}

std::int64_t bytes_of(const Chunk& chunk, Index row) {
  const Index detail = chunk.timeline.activities.detail[row];
  return detail == kNone ? -1 : chunk.timeline.copy_bytes[detail];
}

GraphSync describe(const Chunk& chunk, const GraphItem& item, Index op) {
  const model::RankTimeline& t = chunk.timeline;
  GraphSync sync;
  sync.api = t.api_calls.name[item.call];
  const Index leaf = t.api_calls.op[item.call];
  if (leaf != kNone) sync.leaf_op = t.host_ops.name[leaf];
  if (op != kNone) {
    sync.op = t.host_ops.name[op];
  } else if (item.path != 0) {
    sync.op = chunk.graph.paths[item.path].back();
  }
  return sync;
}

class SyncNamer {
 public:
  explicit SyncNamer(Chunk& chunk) : chunk_(chunk), ops_(chunk.size(), kNone) {}

  void run() {
    bool any = false;
    for (std::size_t i = 0; i < chunk_.size() && !any; ++i) {
      any = chunk_.item(i).wait != WaitFor::kNothing || chunk_.item(i).kind == ItemKind::kSync;
    }
    if (!any) return;
    for (std::size_t i = 0; i < chunk_.size(); ++i) {
      ops_[i] = tensor_op(chunk_.timeline, chunk_.item(i).call);
    }
    for (std::size_t i = 0; i < chunk_.size(); ++i) name(i);
    count_signatures();
    for (std::size_t i = 0; i < chunk_.size(); ++i) {
      if (chunk_.item(i).kind == ItemKind::kSync) follow_back(i);
    }
  }

 private:
  using Signature = std::uint64_t;  // name of the activity and of the operator around it
  struct Seen {
    std::uint32_t total = 0;
    std::uint32_t before_sync = 0;
  };
  static constexpr std::size_t kReach = 3;   // launches before a wait that may only feed it
  static constexpr double kOnlyFeeds = 0.8;  // share of a launch's occurrences that feed waits
  static constexpr float kSmall = 10'000;    // ns of device time

  void name(std::size_t i);
  void count_signatures();
  void follow_back(std::size_t i);
  [[nodiscard]] bool launches(std::size_t i) const {
    return chunk_.item(i).kind == ItemKind::kLaunch && chunk_.item(i).activity_count > 0;
  }
  [[nodiscard]] Signature signature(std::size_t i) const {
    const GraphItem& item = chunk_.item(i);
    const Index op = ops_[i];
    const std::uint64_t activity = chunk_.graph.activities[item.first_activity].name;
    return activity << 32U | (op == kNone ? 0 : chunk_.timeline.host_ops.name[op]);
  }
  // Calls visit(position) for up to kReach launches before the operator that the wait `i` stands
  // in, nearest first, while it returns true.
  template <typename Visit>
  void before_sync(std::size_t i, Visit visit) const {
    std::size_t at = i;
    while (at > 0 && ops_[at - 1] != kNone && ops_[at - 1] == ops_[i]) --at;
    for (std::size_t n = 0; n < kReach && at > 0; ++n) {
      --at;
      if (!launches(at) || !visit(at)) return;
    }
  }

  Chunk& chunk_;
  std::vector<Index> ops_;  // by item: tensor operator around it
  std::unordered_map<Signature, Seen> seen_;
};

void SyncNamer::name(std::size_t i) {
  GraphItem& item = chunk_.item(i);
  const bool waits = item.kind == ItemKind::kSync || item.is_copy_wait || item.is_blocking_launch;
  if (!waits || item.call == kNone) return;
  item.sync = chunk_.dictionaries.sync(describe(chunk_, item, ops_[i]));
  const auto is_bulk = [&](const GraphItem& copy) {
    const GraphActivity& activity = chunk_.graph.activities[copy.first_activity];
    if (activity.role == ActivityRole::kH2D) return true;
    return activity.role == ActivityRole::kD2H && bytes_of(chunk_, activity.row) > kValueBytes;
  };
  if (item.is_copy_wait) item.bulk_copy = is_bulk(item);
  if (item.kind != ItemKind::kSync || ops_[i] == kNone) return;
  std::size_t first = i;
  while (first > 0 && ops_[first - 1] == ops_[i]) --first;
  for (std::size_t k = first; k < i; ++k) item.bulk_copy |= launches(k) && is_bulk(chunk_.item(k));
  if (item.bulk_copy) return;  // the copy is wanted for itself
  for (std::size_t k = first; k <= i; ++k) chunk_.item(k).feeds = item.sync;
}

void SyncNamer::count_signatures() {
  for (std::size_t i = 0; i < chunk_.size(); ++i) {
    if (launches(i)) ++seen_[signature(i)].total;
    if (chunk_.item(i).kind != ItemKind::kSync) continue;
    before_sync(i, [&](std::size_t at) {
      ++seen_[signature(at)].before_sync;
      return true;
    });
  }
}

// Reductions right before a wait, and small elementwise kernels before those, when they occur
// nowhere else: their only use is the value that the program waits for.
void SyncNamer::follow_back(std::size_t i) {
  const std::uint16_t sync = chunk_.item(i).sync;
  bool reduced = false;
  before_sync(i, [&](std::size_t at) {
    const Seen& seen = seen_[signature(at)];
    if (seen.before_sync < kOnlyFeeds * seen.total) return false;
    const GraphActivity& first = chunk_.graph.activities[chunk_.item(at).first_activity];
    const KernelClass klass = chunk_.analysis.kernel_traits[chunk_.graph.names[first.name]].klass;
    const bool reduction = klass == KernelClass::kReduction;
    const bool small = klass == KernelClass::kElementwise && first.duration < kSmall;
    if (!reduction && !(small && reduced)) return false;
    reduced = true;
    chunk_.item(at).feeds = sync;
    return true;
  });
}

}  // namespace

void name_syncs(Chunk& chunk) { SyncNamer(chunk).run(); }

}  // namespace pyrometer::analysis::graph

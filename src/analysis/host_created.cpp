#include "analysis/host_created.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/copies.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::DurationNs;
using model::FactId;
using model::Index;
using model::kNone;
using model::NameId;
using model::RowRange;

enum class Role : std::uint8_t {
  kOther,
  kCreates,  // makes a tensor from nothing, or fills one anew
  kPasses,   // hands the same data on
  kCopies,   // may copy to another device
};

Role role_of(std::string_view name) {
  constexpr std::string_view kCreators[] = {
      "aten::randn",         "aten::rand",       "aten::randint",      "aten::randperm",
      "aten::normal",        "aten::zeros",      "aten::ones",         "aten::full",
      "aten::arange",        "aten::linspace",   "aten::eye",          "aten::zeros_like",
      "aten::ones_like",     "aten::rand_like",  "aten::randn_like",   "aten::full_like",
      "aten::scalar_tensor", "aten::lift_fresh", "aten::normal_",      "aten::uniform_",
      "aten::random_",       "aten::bernoulli_", "aten::exponential_", "aten::fill_",
      "aten::zero_"};
  constexpr std::string_view kPassing[] = {
      "aten::detach",         "aten::detach_",   "aten::view",       "aten::reshape",
      "aten::unsqueeze",      "aten::expand",    "aten::pin_memory", "aten::is_pinned",
      "aten::requires_grad_", "aten::contiguous"};
  constexpr std::string_view kCopiers[] = {"aten::to", "aten::_to_copy", "aten::copy_",
                                           "aten::cuda"};
  const auto in = [name](const auto& list) {
    return std::find(std::begin(list), std::end(list), name) != std::end(list);
  };
  if (in(kCreators)) return Role::kCreates;
  if (in(kPassing)) return Role::kPasses;
  return in(kCopiers) ? Role::kCopies : Role::kOther;
}

// "[32, 1000" of "[[32, 1000], [], []]": the first operand's dimensions, "" for a scalar or none.
std::string_view first_dimensions(std::string_view shapes) {
  if (!shapes.starts_with("[[")) return {};
  shapes.remove_prefix(1);
  shapes = shapes.substr(0, shapes.find(']'));
  return shapes == "[" ? std::string_view() : shapes;
}

struct Found {
  NameId op = 0;
  std::int64_t bytes = 0;
  DurationNs host = 0;
  model::TimeNs at = 0;
};

// Looks through one thread's top-level operators.
class Search {
 public:
  Search(const model::RankTimeline& t, const model::RankAnalysis& a, const std::vector<Role>& roles)
      : t_(t), window_(a.steps.window), roles_(roles) {}

  void run(const model::Thread& thread, std::vector<Found>& found) {
    calls_ = thread.api_calls;
    const RowRange rows = rows_within(t_.host_ops.start, thread.host_ops, window_);
    Index created = kNone;
    Index created_end = kNone;  // end of its nested rows
    for (Index i = rows.begin; i < rows.end; ++i) {
      if (t_.host_ops.parent[i] != kNone) continue;
      if (created != kNone && created_end == kNone) created_end = i;
      const Role role = roles_[t_.host_ops.name[i]];
      if (role == Role::kCreates) {
        created = i;
        created_end = kNone;
      } else if (role == Role::kCopies) {
        // Conversions on the host go on with the same tensor.
        const Index copy = created == kNone ? kNone : upload(i);
        if (copy == kNone) continue;
        match({created, std::min(created_end, rows.end)}, i, copy, found);
        created = kNone;
      } else if (role == Role::kOther) {
        created = kNone;
      }
    }
  }

 private:
  [[nodiscard]] RowRange calls_in(Index op) const {
    return rows_within(t_.api_calls.start, calls_, {t_.host_ops.start[op], t_.host_ops.end[op]});
  }

  [[nodiscard]] bool launches(Index op) const {
    const RowRange calls = calls_in(op);
    for (Index i = calls.begin; i < calls.end; ++i) {
      if (t_.api_calls.first_activity[i] != kNone) return true;
    }
    return false;
  }

  // The copy to the device that `op` launched, kNone when there is none.
  [[nodiscard]] Index upload(Index op) const {
    const RowRange calls = calls_in(op);
    for (Index i = calls.begin; i < calls.end; ++i) {
      const Index activity = t_.api_calls.first_activity[i];
      if (activity != kNone && t_.activities.copy[activity] == model::CopyKind::kH2D) {
        return activity;
      }
    }
    return kNone;
  }

  // The copied tensor is the one just made. Where the shapes of the making operators are not known,
  // the two have to be neighbours; torch.tensor() (lift_fresh) stands before too much else for
  // that.
  [[nodiscard]] bool same_tensor(RowRange made, Index copier) const {
    const auto dimensions = [&](Index op) {
      return first_dimensions(t_.name(t_.host_ops.shapes[op]));
    };
    const std::string_view copied = dimensions(copier);
    bool known = false;
    for (Index i = made.begin; i < made.end; ++i) {
      const std::string_view dims = dimensions(i);
      if (dims.empty()) continue;
      if (dims == copied) return true;
      known = true;
    }
    return !known && made.end == copier &&
           t_.name(t_.host_ops.name[made.begin]) != "aten::lift_fresh";
  }

  void match(RowRange made, Index copier, Index copy, std::vector<Found>& found) const {
    if (launches(made.begin) || !same_tensor(made, copier)) return;
    Found one;
    one.op = t_.host_ops.name[made.begin];
    one.bytes = std::max<std::int64_t>(copy_bytes(t_, copy), 0);
    one.at = t_.host_ops.start[made.begin];
    one.host = t_.host_ops.end[copier] - one.at;
    found.push_back(one);
  }

  const model::RankTimeline& t_;
  model::Interval window_;
  const std::vector<Role>& roles_;
  RowRange calls_;
};

void set_facts(const model::RankTimeline& t, const model::RankAnalysis& a,
               const std::vector<Found>& found, FactWriter& facts) {
  std::vector<bool> step_has(a.steps.steps.size(), false);
  std::map<std::string_view, int> by_op;
  double stepped = 0;
  double bytes = 0;
  DurationNs host = 0;
  for (const Found& one : found) {
    host += one.host;
    ++by_op[t.name(one.op)];
    const std::size_t step = step_at(a.steps, one.at);
    if (step >= step_has.size()) continue;
    step_has[step] = true;
    ++stepped;
    bytes += static_cast<double>(one.bytes);
  }
  facts.per_step(FactId::kCopiesHostCreatedPerStep, stepped);
  facts.per_step(FactId::kCopiesHostCreatedBytesPerStep, bytes);
  facts.host_share(FactId::kCopiesHostCreatedShare, host);
  facts.ratio(FactId::kCopiesHostCreatedSteps,
              static_cast<double>(std::count(step_has.begin(), step_has.end(), true)),
              static_cast<double>(step_has.size()), "no steps found");
  if (by_op.empty()) {
    facts.missing(FactId::kCopiesHostCreatedOp, "no tensor is made on the host and copied");
    return;
  }
  const auto most = std::max_element(
      by_op.begin(), by_op.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  facts.set_text(FactId::kCopiesHostCreatedOp, std::string(most->first));
}

}  // namespace

void find_host_created(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  if (t.host_ops.size() == 0 || t.api_calls.size() == 0) {
    facts.all_missing("host_created", "no operators or no runtime calls were recorded");
    return;
  }
  std::vector<Role> roles(t.names.size(), Role::kOther);
  std::vector<bool> seen(t.names.size(), false);
  for (const NameId name : t.host_ops.name) {
    if (seen[name]) continue;
    seen[name] = true;
    roles[name] = role_of(t.name(name));
  }
  std::vector<Found> found;
  Search search(t, a, roles);
  for (const model::Thread& thread : t.threads) search.run(thread, found);
  set_facts(t, a, found, facts);
}

}  // namespace pyrometer::analysis

#include "analysis/optimizer.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/ops.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::DurationNs;
using model::FactId;
using model::Index;
using model::Interval;
using model::NameId;
using model::TimeNs;

constexpr std::string_view kRange = "Optimizer.step";
constexpr std::string_view kUnscale = "aten::_amp_foreach_non_finite_check_and_unscale_";

// What an operator says about the optimizer that runs it.
enum class Style : std::uint8_t { kLoop, kCompiled, kForeach, kFused };  // the strongest wins

Style style_of_op(std::string_view name) {
  if (name.starts_with("aten::_fused_") || name.find("FusedAdam") != std::string_view::npos ||
      name.find("multi_tensor") != std::string_view::npos) {
    return Style::kFused;
  }
  if (name.starts_with("aten::_foreach_")) return Style::kForeach;
  return name.starts_with("triton_for_") || name.find("CompiledFxGraph") != std::string_view::npos
             ? Style::kCompiled
             : Style::kLoop;
}

const char* text_of(Style style) {
  constexpr const char* kTexts[] = {"loop", "compiled", "foreach", "fused"};
  return kTexts[static_cast<std::size_t>(style)];
}

// "AdamW" of "Optimizer.step#AdamW.step".
std::string class_of(std::string_view range) {
  range.remove_prefix(std::min(range.size(), kRange.size() + 1));
  const std::size_t dot = range.rfind('.');
  return std::string(range.substr(0, dot));
}

struct Sums {
  std::int64_t ranges = 0;  // in the window
  DurationNs host = 0;
  DurationNs device = 0;
  std::int64_t stepped_ranges = 0;
  double stepped_ops = 0;
  double stepped_activities = 0;
  Style style = Style::kLoop;
  bool saw_work = false;
  std::map<std::string, DurationNs> by_class;  // host time
};

class Adder {
 public:
  Adder(const model::RankTimeline& t, const model::RankAnalysis& a)
      : t_(t), a_(a), work_(t), stepped_(stepped_span(a.steps)) {
    style_.reserve(t.names.size());
    for (NameId name = 0; name < t.names.size(); ++name)
      style_.push_back(style_of_op(t.name(name)));
  }

  [[nodiscard]] Sums run() {
    for (const model::Thread& thread : t_.threads) {
      TimeNs covered = std::numeric_limits<TimeNs>::min();
      const auto rows = rows_within(t_.annotations.start, thread.annotations, a_.steps.window);
      for (Index i = rows.begin; i < rows.end; ++i) {
        // Wrappers nest a range of their own around the optimizer's: the outermost counts.
        if (t_.annotations.start[i] < covered) continue;
        const std::string_view name = t_.name(t_.annotations.name[i]);
        if (!name.starts_with(kRange)) continue;
        const Interval span{t_.annotations.start[i], t_.annotations.end[i]};
        covered = span.end;
        add(thread, span, name);
      }
    }
    return sums_;
  }

 private:
  void add(const model::Thread& thread, Interval span, std::string_view name) {
    ++sums_.ranges;
    const DurationNs host = clipped(span.start, span.end, a_.steps.window);
    sums_.host += host;
    sums_.by_class[class_of(name)] += host;
    double activities = 0;
    const model::RowRange calls = rows_within(t_.api_calls.start, thread.api_calls, span);
    for (Index i = calls.begin; i < calls.end; ++i) {
      sums_.device += work_.time[i];
      activities += work_.activities[i];
      see_kernel(i);
    }
    const model::RowRange ops = rows_within(t_.host_ops.start, thread.host_ops, span);
    for (Index i = ops.begin; i < ops.end; ++i) {
      sums_.style = std::max(sums_.style, style_[t_.host_ops.name[i]]);
    }
    sums_.saw_work = sums_.saw_work || activities > 0 || ops.size() > 0;
    if (!contains(stepped_, span.start)) return;
    ++sums_.stepped_ranges;
    sums_.stepped_ops += ops.size();
    sums_.stepped_activities += activities;
  }

  // Apex and DeepSpeed run their fused kernels without operators of their own.
  void see_kernel(Index call) {
    const Index activity = t_.api_calls.first_activity[call];
    if (activity == model::kNone || t_.api_calls.op[call] != model::kNone) return;
    const model::KernelTraits& traits = a_.kernel_traits[t_.activities.name[activity]];
    if (traits.klass == model::KernelClass::kOptimizer) sums_.style = Style::kFused;
  }

  const model::RankTimeline& t_;
  const model::RankAnalysis& a_;
  LaunchedWork work_;
  Interval stepped_;
  std::vector<Style> style_;  // by NameId
  Sums sums_;
};

void set_optimizer_facts(const Sums& sums, FactWriter& facts) {
  const auto longest =
      std::max_element(sums.by_class.begin(), sums.by_class.end(),
                       [](const auto& x, const auto& y) { return x.second < y.second; });
  facts.set_text(FactId::kOptimizerName, longest->first);
  if (sums.saw_work) {
    facts.set_text(FactId::kOptimizerStyle, text_of(sums.style));
  } else {
    facts.missing(FactId::kOptimizerStyle, "nothing was recorded inside Optimizer.step");
  }
  facts.per_step(FactId::kOptimizerCallsPerStep, static_cast<double>(sums.stepped_ranges));
  facts.host_share(FactId::kOptimizerHostShare, sums.host);
  facts.device_share(FactId::kOptimizerDeviceShare, sums.device);
  facts.per_step(FactId::kOptimizerKernelsPerStep, sums.stepped_activities);
  facts.per_step(FactId::kOptimizerOpsPerStep, sums.stepped_ops);
}

// Steps with an unscale and without an optimizer range.
void set_amp_facts(const model::RankTimeline& t, const model::RankAnalysis& a, bool has_ranges,
                   FactWriter& facts) {
  if (t.host_ops.size() == 0) {
    facts.missing({FactId::kAmpGradScaler, FactId::kAmpSkippedSteps}, "no operators were recorded");
    return;
  }
  const NameId unscale = t.names.find(kUnscale);
  std::vector<bool> unscaled(a.steps.steps.size(), false);
  std::vector<bool> stepped(a.steps.steps.size(), false);
  bool any = false;
  for (Index i = 0; i < t.host_ops.size(); ++i) {
    if (t.host_ops.name[i] != unscale || !contains(a.steps.window, t.host_ops.start[i])) continue;
    any = true;
    const std::size_t step = step_at(a.steps, t.host_ops.start[i]);
    if (step < unscaled.size()) unscaled[step] = true;
  }
  facts.set(FactId::kAmpGradScaler, any ? 1 : 0);
  if (!any || !has_ranges || a.steps.steps.empty()) {
    facts.missing(FactId::kAmpSkippedSteps,
                  !any ? "no GradScaler in use" : "no steps or no Optimizer.step ranges found");
    return;
  }
  for (Index i = 0; i < t.annotations.size(); ++i) {
    if (!t.name(t.annotations.name[i]).starts_with(kRange)) continue;
    const std::size_t step = step_at(a.steps, t.annotations.start[i]);
    if (step < stepped.size()) stepped[step] = true;
  }
  double skipped = 0;
  for (std::size_t i = 0; i < unscaled.size(); ++i) skipped += unscaled[i] && !stepped[i] ? 1 : 0;
  facts.set(FactId::kAmpSkippedSteps, skipped);
}

}  // namespace

void measure_optimizer(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  const Sums sums = Adder(t, a).run();
  if (sums.ranges == 0) {
    facts.all_missing("optimizer", "no Optimizer.step range in the window");
  } else {
    set_optimizer_facts(sums, facts);
  }
  set_amp_facts(t, a, sums.ranges > 0, facts);
}

}  // namespace pyrometer::analysis

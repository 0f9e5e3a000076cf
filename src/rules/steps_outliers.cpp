#include "rules/steps_outliers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/region_rule.h"
#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "steps.outliers";
constexpr double kCritical = 0.3;
constexpr std::size_t kFewestSteps = 5;
constexpr std::size_t kWarmUp = 5;      // steps at the beginning that may be long
constexpr std::size_t kForWarmUp = 10;  // fewer steps cannot tell a beginning from the rest

struct Excess {
  std::size_t position = 0;
  std::size_t steps = 0;
  double share = 0;                              // of the steps' time
  double median = 0;                             // ns
  double sigmas = 0;                             // of the longest
  model::Cause cause = model::Cause::kIdleHost;  // of most of the excess
  std::optional<model::Cause> likely;            // what the pattern says that most of this is
  bool told = false;                             // whether device time or a region tells the cause
  double kept = 1;  // of all time with that cause, when the long steps are like the median one
  std::vector<std::int64_t> numbers;
};

double median_of(std::vector<double> values) {
  // Nearest rank from below, as in the table of steps.
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Time of one cause by step, all devices of the rank.
std::vector<double> by_step(const model::RankAnalysis& rank, std::size_t cause) {
  std::vector<double> times(rank.steps.steps.size(), 0);
  for (const model::DeviceWaterfall& device : rank.waterfall.devices) {
    for (std::size_t s = 0; s < times.size() && s < device.steps.size(); ++s) {
      times[s] += static_cast<double>(device.steps[s][cause]);
    }
  }
  return times;
}

// The cause that grows most in the long steps.
void find_cause(const model::RankAnalysis& rank, const std::vector<std::size_t>& longs,
                Excess& excess) {
  double most = 0;
  for (std::size_t c = 0; c < model::kCauseCount; ++c) {
    const std::vector<double> times = by_step(rank, c);
    const double typical = median_of(times);
    double more = 0;
    double all = 0;
    for (const std::size_t s : longs) more += std::max(0.0, times[s] - typical);
    for (const double time : times) all += time;
    if (more <= most || all <= 0) continue;
    most = more;
    excess.told = true;
    excess.cause = static_cast<model::Cause>(c);
    excess.kept = 1 - more / all;
  }
}

// Where nothing ran on a device, the outermost regions of the main thread tell: of what kind most
// of the excess is.
void find_region(const model::RankTimeline& t, const model::RankAnalysis& rank,
                 const std::vector<std::size_t>& longs, double excess_ns, Excess& excess) {
  struct Kind {
    analysis::HostState state;
    model::Cause cause;
  };
  using analysis::HostState;
  constexpr Kind kKinds[] = {{HostState::kInput, model::Cause::kIdleInput},
                             {HostState::kCheckpoint, model::Cause::kIdleCheckpoint},
                             {HostState::kValidation, model::Cause::kIdleValidation},
                             {HostState::kCompile, model::Cause::kIdleCompile},
                             {HostState::kGc, model::Cause::kIdleGc},
                             {HostState::kLogging, model::Cause::kIdleLogging}};
  if (t.threads.empty()) return;
  const model::RowRange rows = t.threads[t.main_thread].annotations;
  model::CauseTimes times{};  // in the long steps
  model::CauseTimes all{};
  model::TimeNs until = 0;
  for (model::Index i = rows.begin; i < rows.end; ++i) {
    const model::Interval span{t.annotations.start[i], t.annotations.end[i]};
    const HostState state =
        analysis::region_of_name(t.name(t.annotations.name[i]), analysis::RegionWhere::kAnnotation);
    if (!analysis::is_region(state) || span.start < until) continue;
    until = span.end;
    const bool in_long = std::any_of(longs.begin(), longs.end(), [&](std::size_t s) {
      const model::Interval& step = rank.steps.steps[s].span;
      return span.start >= step.start && span.start < step.end;
    });
    for (const Kind& kind : kKinds) {
      if (kind.state == state) at(all, kind.cause) += span.length();
      if (in_long && kind.state == state) at(times, kind.cause) += span.length();
    }
  }
  const auto most = std::max_element(times.begin(), times.end());
  if (static_cast<double>(*most) < 0.5 * excess_ns) return;
  excess.told = true;
  excess.cause = static_cast<model::Cause>(most - times.begin());
  // What such regions take in a step like the others stays.
  const auto whole = static_cast<double>(at(all, excess.cause));
  const auto others = static_cast<double>(at(all, excess.cause) - at(times, excess.cause));
  const auto count = static_cast<double>(rank.steps.steps.size());
  const auto long_count = static_cast<double>(longs.size());
  const double usual = count > long_count ? others / (count - long_count) : 0;
  excess.kept = whole > 0 ? std::min(1.0, usual * count / whole) : 1;
}

// Pauses that the trace has no range for are other host code in the waterfall: where they make up
// most of the excess, they are its cause.
void find_likely(const model::RankAnalysis& rank, const std::vector<std::size_t>& longs,
                 Excess& excess) {
  const auto in_long_step = [&](const model::InferredRegion& region) {
    return std::any_of(longs.begin(), longs.end(), [&](std::size_t s) {
      const model::Interval& span = rank.steps.steps[s].span;
      return region.span.start >= span.start && region.span.start < span.end;
    });
  };
  double all = 0;
  for (const double time : by_step(rank, static_cast<std::size_t>(excess.cause))) all += time;
  model::CauseTimes likely{};
  for (const model::InferredRegion& region : rank.pauses.inferred) {
    if (in_long_step(region)) at(likely, region.cause) += at(region.causes, excess.cause);
  }
  for (std::size_t c = 0; c < model::kCauseCount; ++c) {
    if (static_cast<double>(likely[c]) < 0.5 * (1 - excess.kept) * all || likely[c] == 0) continue;
    excess.likely = static_cast<model::Cause>(c);
  }
}

std::optional<Excess> excess_of(const Context& context, std::size_t position) {
  const model::RankAnalysis& rank = context.job().ranks[position];
  const auto& steps = rank.steps.steps;
  if (steps.size() < kFewestSteps) return std::nullopt;
  std::vector<double> lengths;
  for (const model::Step& step : steps) lengths.push_back(static_cast<double>(step.span.length()));
  Excess excess;
  excess.position = position;
  excess.steps = steps.size();
  excess.median = median_of(lengths);
  std::vector<double> deviations;
  double total = 0;
  for (const double length : lengths) {
    deviations.push_back(std::abs(length - excess.median));
    total += length;
  }
  // 1.4826 · MAD estimates the standard deviation of a normal distribution.
  const double sigma = std::max(1.4826 * median_of(deviations), 0.02 * excess.median);
  std::vector<std::size_t> longs;
  double sum = 0;
  for (std::size_t s = 0; s < lengths.size(); ++s) {
    const double sigmas = (lengths[s] - excess.median) / sigma;
    if (sigmas < context.threshold(kId, "sigmas") || lengths[s] < 1.2 * excess.median) continue;
    longs.push_back(s);
    sum += lengths[s] - excess.median;
    excess.sigmas = std::max(excess.sigmas, sigmas);
    excess.numbers.push_back(steps[s].number);
  }
  // The first steps carry what is done once: kernels are loaded when they are first called,
  // algorithms tried, memory taken. That is start-up, and no waste of the steady state.
  if (lengths.size() >= kForWarmUp) {
    for (std::size_t s = 0; s < kWarmUp && !longs.empty() && longs.front() == s; ++s) {
      sum -= lengths[s] - excess.median;
      longs.erase(longs.begin());
      excess.numbers.erase(excess.numbers.begin());
    }
  }
  if (longs.empty() || (longs.size() == 1 && longs.front() == 0)) return std::nullopt;
  excess.share = total > 0 ? sum / total : 0;
  find_cause(rank, longs, excess);
  if (rank.waterfall.devices.empty()) {
    find_region(context.timeline().ranks[position], rank, longs, sum, excess);
  }
  find_likely(rank, longs, excess);
  return excess;
}

using EditOf = std::function<analysis::Edit(double)>;

std::optional<EditOf> edit_for(model::Cause cause) {
  const auto field = [](double analysis::Edit::*member) -> EditOf {
    return [member](double kept) {
      analysis::Edit edit;
      edit.*member = kept;
      return edit;
    };
  };
  switch (cause) {
    case model::Cause::kIdleHost:
      return field(&analysis::Edit::host_other);
    case model::Cause::kIdleInput:
      return field(&analysis::Edit::input_wait);
    case model::Cause::kIdleLaunch:
      return field(&analysis::Edit::host_ops);
    case model::Cause::kIdleAlloc:
      return field(&analysis::Edit::alloc_calls);
    case model::Cause::kIdleCompile:
      return field(&analysis::Edit::compile);
    case model::Cause::kIdleGc:
      return field(&analysis::Edit::gc);
    case model::Cause::kIdleLogging:
      return field(&analysis::Edit::logging);
    case model::Cause::kIdleValidation:
      return field(&analysis::Edit::validation);
    case model::Cause::kIdleCheckpoint:
      return field(&analysis::Edit::checkpoint);
    default:
      return std::nullopt;
  }
}

}  // namespace

void judge_steps_outliers(const Context& context, Judgement& judgement) {
  std::optional<Excess> worst;
  for (std::size_t i = 0; i < context.job().ranks.size(); ++i) {
    const auto excess = excess_of(context, i);
    if (excess && (!worst || excess->share > worst->share)) worst = excess;
  }
  if (context.steps() < kFewestSteps) {
    return not_judged(
        judgement, kId,
        fmt::format("needs at least {} steps, there are {}", kFewestSteps, context.steps()));
  }
  if (!worst || worst->share < context.threshold(kId, "share")) return;
  // Steps end at the host's marker: the device's own work piles up in the last one. Only more idle
  // time makes a step an outlier here.
  const auto edit = edit_for(worst->cause);
  if (!edit) return;

  // Without a device or a region to tell by, that they are there is all that is known.
  const bool note = !worst->told && context.job().ranks[worst->position].waterfall.devices.empty();
  Verdict verdict = start_verdict(kId, note ? Role::kNote : Role::kResidual);
  model::Finding& finding = verdict.finding;
  if (!note)
    finding.severity =
        worst->share >= kCritical ? model::Severity::kCritical : model::Severity::kWarning;
  finding.share_of_time = worst->share;
  finding.ranks = {context.timeline().ranks[worst->position].info.rank};
  const model::CauseInfo& cause = model::cause_info(worst->cause);
  finding.summary = fmt::format(
      "{} of {} steps are far longer than the median of {}; together they cost {} of the time.",
      worst->numbers.size(), worst->steps, duration(worst->median), percent(worst->share));
  if (worst->told) {
    finding.summary += fmt::format(" Most of the excess is {} ({}).", cause.title, cause.id);
  }
  if (worst->likely) {
    finding.summary += fmt::format(" Most of that is likely {}, by its pattern.",
                                   model::cause_info(*worst->likely).title);
  } else if (worst->told && worst->cause == model::Cause::kIdleHost) {
    finding.summary +=
        " Such a pause without operators is typically garbage collection, file output or a print.";
  }
  for (const std::int64_t number : worst->numbers) {
    finding.where.push_back(fmt::format("step {}", number));
  }
  add_measure(context, verdict, "excess of the long steps", worst->share, "fraction", "share");
  add_measure(context, verdict, "longest step, robust z-score", worst->sigmas, "count", "sigmas");
  if (note) {
    finding.no_prediction = "what the long steps did is not known";
    judgement.verdicts.push_back(std::move(verdict));
    return;
  }
  set_edits(verdict, (*edit)(worst->kept), (*edit)(worst->kept),
            (*edit)(worst->kept + (1 - worst->kept) * 0.5),
            "the long steps become like the median one; at worst half of their excess stays");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules

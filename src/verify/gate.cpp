#include "verify/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/confidence.h"
#include "base/quantity.h"
#include "cost/price.h"
#include "verify/comparison.h"

namespace pyrometer::verify {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

bool holds(double value, Relation relation, double limit) {
  switch (relation) {
    case Relation::kAtLeast:
      return value >= limit;
    case Relation::kAtMost:
      return value <= limit;
    case Relation::kAbove:
      return value > limit;
    case Relation::kBelow:
      return value < limit;
    case Relation::kEqual:
      return value == limit;
    case Relation::kUnequal:
      return value != limit;
  }
  return false;
}

// An upper limit against a known interval.
Verdict at_most(const Interval& measured, double limit) {
  if (measured.high <= limit) return Verdict::kPass;
  if (measured.low > limit) return Verdict::kFail;
  return Verdict::kInconclusive;
}

std::string percent(double share) { return fmt::format("{:+.1f}%", share * 100); }

constexpr const char* kStraddles =
    "the limit lies within the interval; more runs or steps narrow it";

constexpr const char* kTooFewSteps = "too few steps for an interval";

Check error_check(std::string name, std::string limit, std::string reason) {
  return {.name = std::move(name),
          .limit = std::move(limit),
          .verdict = Verdict::kError,
          .reason = std::move(reason)};
}

// Ratio of times of two groups, with one run on both sides from what is known within them.
Interval ratio_of(std::span<const double> a, std::span<const double> b,
                  const std::optional<double>& error_a, const std::optional<double>& error_b,
                  double level) {
  Interval out = ratio_of_runs(a, b, level);
  if (out.known || a.size() > 1 || b.size() > 1 || !error_a || !error_b) return out;
  const double reach = analysis::normal_quantile((1 + level) / 2) *
                       std::sqrt(*error_a * *error_a + *error_b * *error_b);
  return {.value = out.value,
          .low = out.value * std::exp(-reach),
          .high = out.value * std::exp(reach),
          .known = true};
}

std::string unlike(const Baseline& baseline, std::span<const RunSummary> candidates) {
  for (const RunSummary& run : candidates) {
    if (run.gpus != baseline.gpus) {
      const auto first = [](const std::vector<std::string>& gpus) {
        return gpus.empty() ? std::string("no GPU")
                            : fmt::format("{} × {}", gpus.size(),
                                          gpus.front().empty() ? "unknown GPU" : gpus.front());
      };
      return "not comparable: the baseline ran on " + first(baseline.gpus) + ", " + run.label +
             " on " + first(run.gpus);
    }
    if (baseline.ranks != run.ranks) {
      return fmt::format("not comparable: the baseline has {} ranks, {} has {}", baseline.ranks,
                         run.label, run.ranks);
    }
  }
  return {};
}

Check slowdown_check(const Baseline* baseline, std::span<const RunSummary> candidates,
                     std::span<const BaselineRun> runs, const Limits& limits) {
  const double limit = *limits.max_slowdown;
  const std::string limit_text = "at most " + percent(limit);
  if (baseline == nullptr) return error_check("slowdown", limit_text, "no --baseline is given");
  if (std::string why = unlike(*baseline, candidates); !why.empty()) {
    return error_check("slowdown", limit_text, std::move(why));
  }
  bool by_sample = true;
  for (const BaselineRun& run : baseline->runs) by_sample = by_sample && run.sample_ns;
  for (const BaselineRun& run : runs) by_sample = by_sample && run.sample_ns;
  if (!by_sample) {
    const bool same = !baseline->samples_per_step || !candidates.front().samples_per_step;
    if (!same) {
      return error_check("slowdown", limit_text, "the samples of a step are not known everywhere");
    }
  }
  std::vector<double> a;
  std::vector<double> b;
  for (const BaselineRun& run : baseline->runs)
    a.push_back(by_sample ? *run.sample_ns : run.step_ns);
  for (const BaselineRun& run : runs) b.push_back(by_sample ? *run.sample_ns : run.step_ns);
  const Interval ratio =
      ratio_of(a, b, baseline->runs.front().step_error, runs.front().step_error, limits.level);
  Check check{.name = "slowdown", .limit = limit_text};
  check.value = ratio.value - 1;
  check.interval = {
      .value = ratio.value - 1, .low = ratio.low - 1, .high = ratio.high - 1, .known = ratio.known};
  check.measured = percent(ratio.value - 1) + " time per " + (by_sample ? "sample" : "step");
  if (!ratio.known) {
    check.verdict = Verdict::kInconclusive;
    check.reason = kTooFewSteps;
    return check;
  }
  check.measured += fmt::format(" ({} to {})", percent(ratio.low - 1), percent(ratio.high - 1));
  check.verdict = at_most(check.interval, limit);
  if (check.verdict == Verdict::kInconclusive) check.reason = kStraddles;
  return check;
}

std::string bytes_text(double bytes) { return fmt::format("{:.2f} GiB", bytes / kGiB); }

Check memory_check(const Baseline* baseline, std::span<const RunSummary> candidates,
                   const std::optional<double>& growth, const std::optional<double>& most) {
  Check check{.name = growth ? "memory growth" : "memory",
              .limit = "at most " + (growth ? percent(*growth) : bytes_text(*most))};
  double peak = 0;
  for (const RunSummary& run : candidates) {
    if (!run.peak_memory) {
      check.reason = run.label + ": " + run.why_no_memory;
      return check;
    }
    peak = std::max(peak, *run.peak_memory);
  }
  if (!growth) {
    check.value = peak;
    check.measured = bytes_text(peak);
    check.verdict = peak <= *most ? Verdict::kPass : Verdict::kFail;
    return check;
  }
  if (baseline == nullptr) {
    check.reason = "no --baseline is given";
    return check;
  }
  if (check.reason = unlike(*baseline, candidates); !check.reason.empty()) return check;
  double before = 0;
  for (const BaselineRun& run : baseline->runs) {
    if (!run.peak_memory) {
      check.reason = "the baseline does not tell its peak memory";
      return check;
    }
    before = std::max(before, *run.peak_memory);
  }
  check.value = peak / before - 1;
  check.measured = percent(*check.value) + ", " + bytes_text(peak);
  check.verdict = *check.value <= *growth ? Verdict::kPass : Verdict::kFail;
  return check;
}

Check cost_check(std::span<const RunSummary> candidates, std::span<const BaselineRun> runs,
                 const Limits& limits) {
  const double limit = *limits.max_cost;
  const std::string limit_text = fmt::format("at most ${:.4g} for 1000 steps", limit);
  const RunSummary& first = candidates.front();
  if (!first.usd_per_gpu_hour) {
    return error_check("cost", limit_text,
                       first.why_no_price.empty() ? "no --price is given" : first.why_no_price);
  }
  const cost::Price price{.usd_per_gpu_hour = *first.usd_per_gpu_hour, .source = ""};
  const auto gpus = static_cast<std::int64_t>(candidates.front().gpus.size());
  if (gpus == 0) return error_check("cost", limit_text, "no GPU was used");
  std::vector<double> usd;
  for (const BaselineRun& run : runs) {
    usd.push_back(cost::usd_per_1000_steps(run.step_ns, gpus, price));
  }
  Check check{.name = "cost", .limit = limit_text};
  if (usd.size() > 1) {
    std::vector<double> logs;
    for (const double value : usd) logs.push_back(std::log(value));
    const Interval mean = mean_interval(logs, limits.level);
    check.interval = {.value = std::exp(mean.value),
                      .low = std::exp(mean.low),
                      .high = std::exp(mean.high),
                      .known = mean.known};
  } else {
    check.interval.value = usd.front();
    if (runs.front().step_error) {
      const double reach =
          analysis::normal_quantile((1 + limits.level) / 2) * *runs.front().step_error;
      check.interval.low = usd.front() * std::exp(-reach);
      check.interval.high = usd.front() * std::exp(reach);
      check.interval.known = true;
    }
  }
  check.value = check.interval.value;
  check.measured = fmt::format("${:.4g}", *check.value);
  if (!check.interval.known) {
    check.verdict = Verdict::kInconclusive;
    check.reason = kTooFewSteps;
    return check;
  }
  check.measured += fmt::format(" (${:.4g} to ${:.4g})", check.interval.low, check.interval.high);
  check.verdict = at_most(check.interval, limit);
  if (check.verdict == Verdict::kInconclusive) check.reason = kStraddles;
  return check;
}

Check mfu_check(std::span<const RunSummary> candidates, double least, double level) {
  Check check{.name = "MFU", .limit = "at least " + base::format_percent(least)};
  std::vector<double> values;
  for (const RunSummary& run : candidates) {
    if (!run.mfu) {
      check.reason = run.label + ": " + (run.why_no_mfu.empty() ? "not measured" : run.why_no_mfu);
      return check;
    }
    values.push_back(*run.mfu);
  }
  const Interval mean = mean_interval(values, level);
  check.value = mean.value;
  check.interval = mean;
  check.measured = base::format_percent(mean.value);
  if (mean.known) {
    check.measured +=
        " (" + base::format_percent(mean.low) + " to " + base::format_percent(mean.high) + ")";
  }
  const double low = mean.known ? mean.low : mean.value;
  const double high = mean.known ? mean.high : mean.value;
  check.verdict = low >= least   ? Verdict::kPass
                  : high < least ? Verdict::kFail
                                 : Verdict::kInconclusive;
  if (check.verdict == Verdict::kInconclusive) check.reason = kStraddles;
  return check;
}

// Why a run does not tell the fact; "" where it does. A rank of which it is not known may be the
// one that breaks the limit, so every rank has to tell a fact that any rank tells.
std::string lacking_fact(const RunSummary& run, model::FactId fact) {
  if (run.failed != 0 && run.facts.empty()) return "its command failed";
  bool any = false;
  for (const model::FactSet& facts : run.facts) any = any || facts.judged(fact);
  if (!any) return "the analysis that measures it did not run";
  const bool of_job = run.facts.front().judged(fact);
  std::size_t rank = 0;
  bool first = true;
  for (const model::FactSet& facts : run.facts) {
    const bool is_job = std::exchange(first, false);
    // A fact is of the job or of its ranks: the other kind is not asked for it.
    if (!facts.judged(fact) && (is_job || of_job)) continue;
    const std::string where =
        is_job || run.facts.size() <= 2 ? "" : fmt::format("recorded rank {}: ", rank);
    if (!is_job) ++rank;
    if (facts.value(fact)) continue;
    return where + (facts.has(fact) ? "it is a text, not a number"
                                    : std::string(facts.missing_reason(fact)));
  }
  return {};
}

// The rank where the fact is furthest on the wrong side stands for a run.
std::optional<double> worst_fact(const RunSummary& run, const Requirement& r, std::string& why) {
  why = lacking_fact(run, r.fact);
  if (!why.empty()) return std::nullopt;
  std::optional<double> worst;
  for (const model::FactSet& facts : run.facts) {
    const std::optional<double> value = facts.value(r.fact);
    if (!value) continue;
    const bool low_is_worse = r.relation == Relation::kAtLeast || r.relation == Relation::kAbove;
    const bool fails = !holds(*value, r.relation, r.value);
    if (!worst || fails || (low_is_worse ? *value < *worst : *value > *worst)) worst = *value;
    if (fails) return worst;
  }
  return worst;
}

Check requirement_check(std::span<const RunSummary> candidates, const Requirement& r,
                        double level) {
  Check check{.name = r.text, .limit = r.text};
  std::vector<double> values;
  for (const RunSummary& run : candidates) {
    std::string why;
    const std::optional<double> value = worst_fact(run, r, why);
    if (!value) {
      check.reason = run.label + ": " + why;
      return check;
    }
    values.push_back(*value);
  }
  const model::FactInfo& info = model::fact_info(r.fact);
  const auto text = [&](double value) {
    if (info.unit == "fraction") return base::format_percent(value);
    if (info.unit == "ns") return base::format_duration(value);
    if (info.unit == "bytes") return bytes_text(value);
    return fmt::format("{:.6g} {}", value, info.unit);
  };
  const Interval mean = mean_interval(values, level);
  check.value = mean.value;
  check.interval = mean;
  check.measured = text(mean.value);
  if (mean.known && mean.high > mean.low) {
    check.measured += " (" + text(mean.low) + " to " + text(mean.high) + ")";
  }
  const bool low = holds(mean.known ? mean.low : mean.value, r.relation, r.value);
  const bool high = holds(mean.known ? mean.high : mean.value, r.relation, r.value);
  check.verdict = low && high     ? Verdict::kPass
                  : !low && !high ? Verdict::kFail
                                  : Verdict::kInconclusive;
  if (check.verdict == Verdict::kInconclusive) check.reason = kStraddles;
  return check;
}

}  // namespace

GateResult judge(const Baseline* baseline, std::span<const RunSummary> candidates,
                 const Limits& limits) {
  GateResult out;
  out.candidate_runs = candidates.size();
  out.baseline_runs = baseline == nullptr ? 0 : baseline->runs.size();
  std::vector<BaselineRun> runs;
  std::string no_steps;
  for (const RunSummary& run : candidates) {
    const base::Result<BaselineRun> one = baseline_run(run);
    if (one) runs.push_back(*one);
    if (!one) no_steps = one.error().to_string();
    if (!run.ended) out.notes.push_back("the run " + run.label + " had not ended when it was read");
    if (run.failed != 0) {
      out.checks.push_back(
          error_check("run", "ends without an error",
                      fmt::format("the command of {} ended with {}{}{}", run.label, run.failed,
                                  run.last_words.empty() ? "" : ": ", run.last_words)));
    }
  }
  const auto add_timed = [&](const char* name, const auto& make) {
    out.checks.push_back(no_steps.empty() ? make() : error_check(name, "", no_steps));
  };
  if (limits.max_slowdown) {
    add_timed("slowdown", [&] { return slowdown_check(baseline, candidates, runs, limits); });
    if (baseline != nullptr && baseline->runs.size() == 1 && candidates.size() == 1) {
      out.notes.emplace_back(
          "one run each: the interval holds what differs from step to step, not what differs from "
          "run to run; save the baseline from several runs, or give several candidates");
    }
  }
  if (limits.max_cost) {
    add_timed("cost", [&] { return cost_check(candidates, runs, limits); });
  }
  if (limits.max_memory_growth) {
    out.checks.push_back(memory_check(baseline, candidates, limits.max_memory_growth, {}));
  }
  if (limits.max_memory) {
    out.checks.push_back(memory_check(baseline, candidates, {}, limits.max_memory));
  }
  if (limits.min_mfu) {
    out.checks.push_back(mfu_check(candidates, *limits.min_mfu, limits.level));
  }
  for (const Requirement& requirement : limits.requirements) {
    out.checks.push_back(requirement_check(candidates, requirement, limits.level));
  }
  std::string values;
  for (const Check& check : out.checks) {
    const bool decided = check.verdict == Verdict::kPass || check.verdict == Verdict::kFail;
    if (decided && !check.interval.known) values += (values.empty() ? "" : ", ") + check.name;
  }
  if (!values.empty()) {
    out.notes.push_back("judged by the value alone, which has no interval: " + values);
  }
  out.verdict = Verdict::kPass;
  for (const Check& check : out.checks) out.verdict = std::max(out.verdict, check.verdict);
  if (out.checks.empty()) out.verdict = Verdict::kError;
  return out;
}

}  // namespace pyrometer::verify

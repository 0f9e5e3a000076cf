#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/quantity.h"
#include "rules/build.h"
#include "rules/device_no_gpu_work.h"
#include "rules/host_where.h"
#include "rules/rule.h"

namespace pyrometer::rules {
namespace {

using model::Confidence;
using model::Finding;
using model::Severity;

// Few steps, little certainty.
constexpr std::size_t kStepsForFindings = 3;
constexpr std::size_t kStepsForConfidence = 10;
// A fix that gains less than this is no cause worth a warning.
constexpr double kWorthwhileGain = 0.03;
// Less busy than this, "nothing is wasted" would be a strange thing to say.
constexpr double kMostlyBusy = 0.85;
constexpr double kMuchProfiler = 0.1;

constexpr std::string_view kNoGpuWork = "device.no_gpu_work";
constexpr std::string_view kOthersOnCpus = "host.cpu_saturated";

// Findings that come before others whatever their gains, when both are there and not mere
// information, and why.
struct Precedence {
  std::string_view first;
  std::string_view then;
  std::string_view why;
};
constexpr std::string_view kGraphs = "CUDA graphs need a step without blocking calls";
constexpr std::string_view kSlowRank = "the slow rank comes before what slows it";
constexpr std::string_view kSlowsAll = "what slows everything comes before what it makes slow";
constexpr std::string_view kNoCpu = "a host without CPU time is slow at everything";
constexpr std::string_view kFailure = "a failure to come goes before a gain to have";
constexpr std::string_view kDefect = "a defect goes before an optimisation that changes numerics";
constexpr Precedence kPrecedence[] = {
    {"sync.blocking_calls", "launch.bound", kGraphs},
    {"sync.blocking_calls", "launch.tiny_kernels", kGraphs},
    {"sync.blocking_calls", "memory.batch_headroom", kGraphs},
    {"comm.skew", "input.serial_loader", kSlowRank},
    {"comm.skew", "input.bound", kSlowRank},
    {"comm.skew", "launch.host_code", kSlowRank},
    {"debug.anomaly_mode", "sync.blocking_calls", kSlowsAll},
    {"debug.anomaly_mode", "launch.bound", kSlowsAll},
    {"debug.launch_blocking", "launch.bound", kSlowsAll},
    {"debug.python_tracing", "launch.bound", kSlowsAll},
    {"debug.python_tracing", "launch.host_code", kSlowsAll},
    {"host.cpu_quota", "launch.bound", kNoCpu},
    {"host.cpu_quota", "launch.host_code", kNoCpu},
    {"host.cpu_quota", "input.bound", kNoCpu},
    {"host.affinity", "launch.bound", kNoCpu},
    {"host.affinity", "launch.host_code", kNoCpu},
    {"host.affinity", "input.bound", kNoCpu},
    {"host.cpu_saturated", "launch.bound", kNoCpu},
    {"host.cpu_saturated", "launch.host_code", kNoCpu},
    {"host.oversubscribed", "launch.bound", kNoCpu},
    {"host.oversubscribed", "launch.host_code", kNoCpu},
    {"pauses.validation", "launch.bound", kSlowsAll},
    {"pauses.validation", "steps.outliers", kSlowsAll},
    {"memory.growth", "launch.bound", kFailure},
    {"memory.growth", "allocator.calls_in_step", kFailure},
    {"memory.growth", "memory.batch_headroom", kFailure},
    {"memory.near_limit", "precision.no_amp", kFailure},
    {"allocator.calls_in_step", "precision.no_amp", kDefect},
    {"transfer.pageable_h2d", "precision.no_amp", kDefect},
    {"layout.channels_first", "precision.no_amp", kDefect},
};

struct Ranked {
  Verdict verdict;
  double gain = 0;  // fraction of the step, by the expected edit; for residuals beyond the causes'
  double weight = 0;  // what is ranked by
};

// A specific cause has a concrete edit behind it and comes before a general symptom of about the
// same size. What has no model counts with all of its time: no fix can gain more.
double weight_of(const Context& context, const Ranked& item) {
  constexpr double kSpecific = 2;
  constexpr double kWorth = 0.1;
  if (!item.verdict.has_edit || !context.what_if().available()) {
    return item.verdict.finding.share_of_time;
  }
  const bool specific = item.verdict.role == Role::kCause && item.gain >= kWorth;
  return specific ? item.gain * kSpecific : item.gain;
}

void predict(const Context& context, Verdict& verdict) {
  Finding& finding = verdict.finding;
  if (!verdict.has_edit) {
    if (finding.no_prediction.empty()) finding.no_prediction = "no model for this fix";
    return;
  }
  if (!context.what_if().available()) {
    finding.no_prediction = context.what_if().baseline().unavailable;
    return;
  }
  finding.prediction =
      context.what_if().predict(verdict.best, verdict.expected, verdict.worst, verdict.model);
}

void limit_confidence(const Context& context, Finding& finding) {
  if (finding.severity == Severity::kInfo) return;
  if (context.steps() < kStepsForConfidence) {
    finding.confidence = std::min(finding.confidence, Confidence::kLow);
  }
  if (finding.prediction && finding.prediction->baseline_error > 0.15) {
    finding.confidence = std::min(finding.confidence, Confidence::kLow);
  }
}

// Severity is how much of the time a symptom takes; the order is by what the fixes gain. Where a
// less severe finding stands above a more severe one, the latter says why.
void explain_order(std::vector<Ranked>& items, bool predicts) {
  for (std::size_t i = 1; i < items.size(); ++i) {
    Finding& finding = items[i].verdict.finding;
    const auto above = [&](std::size_t k) -> const Finding& { return items[k].verdict.finding; };
    std::size_t milder = 0;
    while (milder < i && above(milder).severity >= finding.severity) ++milder;
    if (milder == i) continue;
    finding.order = fmt::format("below {}: ", milder + 1);
    const auto* const fixed =
        std::find_if(std::begin(kPrecedence), std::end(kPrecedence), [&](const Precedence& rule) {
          return rule.first == above(milder).id && rule.then == finding.id;
        });
    if (fixed != std::end(kPrecedence)) {
      finding.order += fixed->why;
    } else if (items[i].verdict.role == Role::kResidual && items[i].verdict.has_edit) {
      finding.order += fmt::format(
          "a symptom counts with what its fix gains beyond those of the causes above, {} of the "
          "step",
          percent(std::max(0.0, items[i].gain)));
    } else if (finding.id == kOthersOnCpus) {
      finding.order += "what is wrong with the program comes before what others do on its machine";
    } else if (above(milder).id == kNoGpuWork) {
      finding.order += "what runs on no GPU at all comes first";
    } else if (!predicts) {
      finding.order += "findings stand by how much of the time they concern";
    } else {
      finding.order += "findings stand by what their fixes gain, not by how much time they take";
    }
  }
}

// CPUs that other processes use up are the machine's state at the time. What is wrong with the
// program stays wrong: it comes first where its fix gains much. On a GPU, symptoms of a slow host
// (residuals) may well be due to the lack of CPUs; without one, each part of a step suffers alike.
void put_machine_last(const Context& context, std::vector<Ranked>& items) {
  constexpr double kMuch = 0.1;
  const bool on_device = model::total(context.job().causes) > 0;
  const auto machine = std::find_if(items.begin(), items.end(), [](const Ranked& item) {
    return item.verdict.finding.id == kOthersOnCpus;
  });
  if (machine == items.end() || machine->verdict.finding.severity == Severity::kInfo) return;
  std::stable_partition(machine, items.end(), [&](const Ranked& item) {
    const Finding& finding = item.verdict.finding;
    if (finding.severity == Severity::kInfo || finding.id == kOthersOnCpus) return false;
    if (finding.id == kNoGpuWork) return true;
    return item.gain >= kMuch && (item.verdict.role == Role::kCause || !on_device);
  });
}

// Gains of the causes alone, then of the residuals beyond all causes together.
void rank(const Context& context, std::vector<Ranked>& items) {
  analysis::Edit causes;
  for (Ranked& item : items) {
    if (!item.verdict.has_edit) continue;
    item.gain = gain(context, item.verdict.expected);
    if (item.verdict.role == Role::kCause && item.gain > 0) {
      causes = analysis::combine(causes, item.verdict.expected);
    }
  }
  const double with_causes = gain(context, causes);
  for (Ranked& item : items) {
    if (item.verdict.role != Role::kResidual || !item.verdict.has_edit) continue;
    item.gain = gain(context, analysis::combine(causes, item.verdict.expected)) - with_causes;
    // What the causes' fixes leave of a symptom decides whether it is one.
    if (item.gain < kWorthwhileGain) {
      item.verdict.finding.severity = Severity::kInfo;
      // Alone its fix may gain as much as a cause's: of the same time.
      if (with_causes >= kWorthwhileGain &&
          gain(context, item.verdict.expected) >= kWorthwhileGain) {
        item.verdict.has_edit = false;
        item.verdict.finding.no_prediction = "nothing beyond what the causes above gain";
      }
    }
  }
  for (Ranked& item : items) item.weight = weight_of(context, item);
  std::stable_sort(items.begin(), items.end(), [](const Ranked& a, const Ranked& b) {
    const bool note_a = a.verdict.finding.severity == Severity::kInfo;
    const bool note_b = b.verdict.finding.severity == Severity::kInfo;
    if (note_a != note_b) return note_b;
    if (a.weight != b.weight) return a.weight > b.weight;
    return a.verdict.finding.severity > b.verdict.finding.severity;
  });
  for (const Precedence& rule : kPrecedence) {
    const auto by_id = [](std::string_view id) {
      return [id](const Ranked& item) { return item.verdict.finding.id == id; };
    };
    const auto then = std::find_if(items.begin(), items.end(), by_id(rule.then));
    const auto first = std::find_if(items.begin(), items.end(), by_id(rule.first));
    if (first == items.end() || then == items.end() || first < then) continue;
    if (first->verdict.finding.severity == Severity::kInfo) continue;
    std::rotate(then, first, first + 1);
  }
  put_machine_last(context, items);
  explain_order(items, context.what_if().available());
}

// A finding whose fix hardly gains anything is information, not a cause.
void demote_worthless(const Context& context, std::vector<Ranked>& items) {
  if (!context.what_if().available()) return;
  for (Ranked& item : items) {
    if (!item.verdict.has_edit || item.verdict.finding.severity == Severity::kInfo) continue;
    if (gain(context, item.verdict.expected) < kWorthwhileGain) {
      item.verdict.finding.severity = Severity::kInfo;
    }
  }
}

// "Nothing is wasted" is no note to give beside a cause, nor without steps to judge.
void drop_contradiction(const Context& context, std::vector<Ranked>& items) {
  const bool any_cause = std::any_of(items.begin(), items.end(), [](const Ranked& item) {
    return item.verdict.finding.severity != Severity::kInfo;
  });
  if (!any_cause && context.steps() >= kStepsForFindings) return;
  std::erase_if(items,
                [](const Ranked& item) { return item.verdict.finding.id == "compute.bound"; });
}

std::optional<model::Prediction> predict_jointly(const Context& context,
                                                 const std::vector<Ranked>& items) {
  analysis::Edit best;
  analysis::Edit expected;
  analysis::Edit worst;
  int count = 0;
  for (const Ranked& item : items) {
    if (!item.verdict.has_edit || item.verdict.finding.severity == Severity::kInfo) continue;
    best = analysis::combine(best, item.verdict.best);
    expected = analysis::combine(expected, item.verdict.expected);
    worst = analysis::combine(worst, item.verdict.worst);
    ++count;
  }
  if (count < 2 || !context.what_if().available()) return std::nullopt;
  return context.what_if().predict(best, expected, worst,
                                   fmt::format("all {} fixes together", count));
}

std::string busy_sentence(const Context& context) {
  const model::CauseTimes& causes = context.job().causes;
  const auto whole = static_cast<double>(model::total(causes));
  if (whole <= 0) {
    const std::string why = why_no_gpu(context.timeline().ranks.front());
    return why.empty() ? "No GPU activity was recorded." : "Nothing ran on a GPU: " + why + ".";
  }
  double compute = 0;
  double busy = 0;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    const model::CauseGroup group = model::cause_info(static_cast<model::Cause>(i)).group;
    const double share = static_cast<double>(causes[i]) / whole;
    if (group == model::CauseGroup::kCompute) compute += share;
    if (group != model::CauseGroup::kIdle && group != model::CauseGroup::kUnattributed) {
      busy += share;
    }
  }
  const bool several = context.job().ranks.size() > 1;
  std::string text = fmt::format("The GPU{} {} busy {} of the time", several ? "s" : "",
                                 several ? "were" : "was", percent(busy));
  // Communication and copies keep a GPU busy without any progress of their own.
  if (busy - compute >= 0.05) text += fmt::format(", computing {}", percent(compute));
  return text + ".";
}

std::string verdict_sentence(const Context& context, const std::vector<Finding>& findings) {
  std::string text = busy_sentence(context);
  // That nothing ran on a GPU is said already.
  const bool no_gpu = model::total(context.job().causes) == 0;
  const auto first = std::find_if(findings.begin(), findings.end(), [&](const Finding& f) {
    return f.severity != Severity::kInfo && !(no_gpu && f.id == kNoGpuWork);
  });
  if (first == findings.end()) {
    if (no_gpu) return text;
    if (context.steps() < kStepsForFindings) {
      return text + fmt::format(" Too few steps to judge: {}, at least {} are needed.",
                                context.steps(), kStepsForFindings);
    }
    const double busy = context.job().facts.value_or(model::FactId::kWaterfallBusy, 1);
    if (busy >= kMostlyBusy) return text + " Nothing is obviously wasted.";
    const double profiler = context.mean(model::FactId::kDilationStepShare).value_or(0);
    return text +
           (profiler > kMuchProfiler
                ? fmt::format(" No cause was found whose fix would gain much: the profiler "
                              "itself makes up about {} of the step.",
                              percent(profiler))
                : std::string(" No cause was found whose fix would gain much; see what could "
                              "not be judged."));
  }
  text += " " + first->title;
  if (first->prediction) {
    const model::Prediction& p = *first->prediction;
    // The recorded step, which the table divides, is longer where the profiler slows the host.
    const double recorded = context.mean(model::FactId::kStepsMean).value_or(p.baseline_ns);
    constexpr double kSame = 0.98;
    text += fmt::format(
        ": fixing it would take the step from {}{} to about {}, {}", duration(p.baseline_ns),
        !context.recording() && p.baseline_ns < kSame * recorded ? " (without the profiler)" : "",
        base::format_expected(p.mid_ns, p.low_ns, p.high_ns),
        base::format_speedup(p.baseline_ns, p.mid_ns, p.low_ns, p.high_ns));
  }
  return text + ".";
}

}  // namespace

model::Diagnosis diagnose(const model::Timeline& timeline, const model::JobAnalysis& job,
                          const analysis::WhatIf& what_if, const Settings& settings) {
  const Context context(timeline, job, what_if, settings);
  model::Diagnosis diagnosis;
  if (timeline.ranks.empty()) {
    diagnosis.verdict = "There is nothing to judge: no rank was read.";
    return diagnosis;
  }
  Judgement judgement;
  const bool enough = context.steps() >= kStepsForFindings;
  for (const Rule& rule : all_rules()) {
    if (settings.disabled.contains(rule.id)) {
      not_judged(judgement, rule.id, "disabled in the configuration");
      continue;
    }
    rule.judge(context, judgement);
  }
  std::vector<Ranked> items;
  for (Verdict& verdict : judgement.verdicts) {
    // Facts only: with fewer steps nothing but notes can be said.
    if (!enough && verdict.role != Role::kNote) {
      not_judged(
          judgement, verdict.finding.id,
          fmt::format("needs at least {} steps, there are {}", kStepsForFindings, context.steps()));
      continue;
    }
    items.push_back({std::move(verdict), 0});
  }
  demote_worthless(context, items);
  rank(context, items);
  drop_contradiction(context, items);
  diagnosis.joint = predict_jointly(context, items);
  for (Ranked& item : items) {
    predict(context, item.verdict);
    limit_confidence(context, item.verdict.finding);
    add_host_lines(context, item.verdict.finding);
    diagnosis.findings.push_back(std::move(item.verdict.finding));
  }
  diagnosis.not_judged = std::move(judgement.not_judged);
  diagnosis.verdict = verdict_sentence(context, diagnosis.findings);
  return diagnosis;
}

}  // namespace pyrometer::rules

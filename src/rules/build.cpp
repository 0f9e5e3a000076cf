#include "rules/build.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/quantity.h"
#include "rules/catalog.h"

namespace pyrometer::rules {
namespace {

void attach_threshold(const Context& context, const Verdict& verdict, std::string_view name,
                      std::string_view comparison, model::Evidence& evidence) {
  if (name.empty()) return;
  evidence.comparison = std::string(comparison);
  evidence.threshold = context.threshold(verdict.finding.id, name);
  const ThresholdInfo* info = find_threshold(verdict.finding.id, name);
  if (info != nullptr) evidence.threshold_source = std::string(info->source);
}

}  // namespace

Verdict start_verdict(std::string_view id, Role role) {
  Verdict verdict;
  verdict.role = role;
  verdict.finding.id = std::string(id);
  verdict.finding.severity =
      role == Role::kNote ? model::Severity::kInfo : model::Severity::kWarning;
  if (const FindingInfo* info = find_finding(id)) {
    verdict.finding.title = std::string(info->title);
    verdict.finding.fix = std::string(info->fix);
    verdict.finding.fix_code = std::string(info->code);
  }
  return verdict;
}

model::Severity severity_for(const Context& context, std::string_view id, double value) {
  const bool has_critical = find_threshold(id, "critical") != nullptr;
  return has_critical && value >= context.threshold(id, "critical") ? model::Severity::kCritical
                                                                    : model::Severity::kWarning;
}

void add_evidence(const Context& context, Verdict& verdict, model::FactId fact, double value,
                  std::string_view threshold, std::string note, std::string_view comparison) {
  const model::FactInfo& info = model::fact_info(fact);
  add_measure(context, verdict, std::string(info.id), value, std::string(info.unit), threshold,
              std::move(note), comparison);
}

void add_fact(const Context& context, Verdict& verdict, const model::FactSet& facts,
              model::FactId fact, std::string_view threshold, std::string_view comparison) {
  if (const auto value = facts.value(fact)) {
    add_evidence(context, verdict, fact, *value, threshold, {}, comparison);
  }
}

void add_measure(const Context& context, Verdict& verdict, std::string label, double value,
                 std::string unit, std::string_view threshold, std::string note,
                 std::string_view comparison) {
  model::Evidence evidence;
  evidence.fact = std::move(label);
  evidence.value = value;
  evidence.unit = std::move(unit);
  evidence.note = std::move(note);
  attach_threshold(context, verdict, threshold, comparison, evidence);
  verdict.finding.evidence.push_back(std::move(evidence));
}

void set_edits(Verdict& verdict, analysis::Edit best, analysis::Edit expected, analysis::Edit worst,
               std::string model_in_words) {
  verdict.best = std::move(best);
  verdict.expected = std::move(expected);
  verdict.worst = std::move(worst);
  verdict.model = std::move(model_in_words);
  verdict.has_edit = true;
}

double gain(const Context& context, const analysis::Edit& edit) {
  const analysis::WhatIf& what_if = context.what_if();
  if (!what_if.available()) return 0;
  const double before = what_if.step_ns({});
  if (before <= 0) return 0;
  return 1.0 - what_if.step_ns(edit) / before;
}

double operator_share(const Context& context, std::size_t position,
                      std::initializer_list<std::string_view> names) {
  const model::RankTimeline& timeline = context.timeline().ranks[position];
  double all = 0;
  double most = 0;
  for (const model::OpRow& op : context.job().ranks[position].host.ops) {
    if (op.is_annotation) continue;
    all += static_cast<double>(op.host_self);
    // aten::to contains aten::_to_copy contains aten::copy_: the largest stands for the chain.
    for (const std::string_view name : names) {
      if (timeline.name(op.name) == name) most = std::max(most, static_cast<double>(op.host_total));
    }
  }
  return all > 0 ? std::min(1.0, most / all) : 0;
}

std::string percent(double fraction) { return base::format_percent(fraction); }

std::string duration(double ns) { return base::format_duration(ns); }

std::string bytes(double number) {
  constexpr double kKibi = 1024;
  constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (std::abs(number) >= kKibi && unit + 1 < std::size(kUnits)) {
    number /= kKibi;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} bytes", number)
                   : fmt::format("{:.{}f} {}", number, base::decimals_of_three_digits(number),
                                 kUnits[unit]);
}

std::string where_counted(const Context& context, std::size_t position, model::Cause cause) {
  const model::RankAnalysis& rank = context.job().ranks[position];
  model::CauseTimes sum{};
  for (const model::InferredRegion& region : rank.pauses.inferred) {
    if (region.cause != cause) continue;
    for (std::size_t i = 0; i < model::kCauseCount; ++i) sum[i] += region.causes[i];
  }
  const auto whole = static_cast<double>(model::total(rank.waterfall.causes));
  std::string list;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    const model::CauseInfo& info = model::cause_info(static_cast<model::Cause>(i));
    const bool paused =
        info.group == model::CauseGroup::kIdle || info.group == model::CauseGroup::kCopy;
    const double share = whole > 0 ? static_cast<double>(sum[i]) / whole : 0;
    constexpr double kWorthSaying = 0.005;
    if (!paused || share < kWorthSaying) continue;
    list += (list.empty() ? "" : ", ") + std::string(info.title) + " (" + percent(share) + ")";
  }
  if (list.empty()) return "";
  const std::size_t last = list.rfind(", ");
  if (last != std::string::npos) list.replace(last, 2, " and ");
  return " No range was recorded for it: the table has it under " + list + ".";
}

std::string capture_refused(const model::RankTimeline& rank) {
  if (rank.run == nullptr || rank.activities.size() > 0) return {};
  constexpr std::string_view kOff = "off: ";
  const auto capture = rank.run->info.find("gpu.capture");
  return capture != rank.run->info.end() && capture->second.starts_with(kOff)
             ? capture->second.substr(kOff.size())
             : std::string();
}

void not_judged(Judgement& judgement, std::string_view id, std::string reason) {
  judgement.not_judged.push_back({std::string(id), std::move(reason)});
}

}  // namespace pyrometer::rules

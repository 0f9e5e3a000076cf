#include "rules/device_link.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

analysis::Edit faster_link(double factor) {
  analysis::Edit edit;
  edit.h2d_time = factor;
  edit.d2h_time = factor;
  return edit;
}

analysis::Edit fewer_bytes(double factor) {
  analysis::Edit edit = faster_link(factor);
  edit.copy_host = factor;
  return edit;
}

}  // namespace

void judge_device_pcie_link(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "device.pcie_link";
  std::optional<OnRank> slowest;
  for (std::size_t i = 0; i < context.job().ranks.size(); ++i) {
    const auto share = context.job().ranks[i].facts.value(FactId::kDeviceLinkShare);
    if (share && (!slowest || *share < slowest->value)) slowest = OnRank{i, *share};
  }
  if (!slowest) return not_judged(judgement, kId, context.missing(FactId::kDeviceLinkShare));
  if (slowest->value >= context.threshold(kId, "share")) return;
  const model::FactSet& facts = context.job().ranks[slowest->position].facts;
  const double copies =
      facts.value_or(FactId::kWaterfallCopyH2d, 0) + facts.value_or(FactId::kWaterfallCopyD2h, 0);
  const bool matters = copies >= context.threshold(kId, "copies");
  // Without copies a link that was never busy may have rested all the time.
  const auto busy = facts.value(FactId::kDeviceLinkBusy);
  constexpr double kIdle = 0.005;
  if (!matters && (!busy || *busy < kIdle)) {
    return not_judged(judgement, kId, "the link carried hardly anything, and rests slowly then");
  }
  Verdict verdict = start_verdict(kId, matters ? Role::kCause : Role::kNote);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kMedium;
  finding.share_of_time = copies * (1 - slowest->value);
  finding.ranks = {context.timeline().ranks[slowest->position].info.rank};
  finding.summary = fmt::format(
      "The link ran at generation {:.0f} with {:.0f} lanes, {} of the bandwidth that GPU and slot "
      "support; copies over it take {} of the device time.",
      facts.value_or(FactId::kDeviceLinkGeneration, 0), facts.value_or(FactId::kDeviceLinkWidth, 0),
      percent(slowest->value), percent(copies));
  add_evidence(context, verdict, FactId::kDeviceLinkShare, slowest->value, "share", {}, "<");
  add_measure(context, verdict, "copies to and from the host", copies, "fraction", "copies");
  if (matters) {
    const double expected = (1 + slowest->value) / 2;
    set_edits(verdict, faster_link(slowest->value), faster_link(expected), faster_link(1),
              "copies get faster with the link, at best by all that it lacks (half expected)");
  } else {
    finding.no_prediction = "hardly any time is spent in copies";
  }
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_transfer_link_saturated(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "transfer.link_saturated";
  const auto busy = context.largest(FactId::kDeviceLinkBusy);
  if (!busy) return not_judged(judgement, kId, context.missing(FactId::kDeviceLinkBusy));
  if (busy->value < context.threshold(kId, "link")) return;
  const model::FactSet& facts = context.job().ranks[busy->position].facts;
  auto active = facts.value(FactId::kDeviceSmActive);
  FactId used = FactId::kDeviceSmActive;
  if (!active) {
    used = FactId::kDeviceUtil;
    active = facts.value(used);
  }
  if (!active) return not_judged(judgement, kId, context.missing(FactId::kDeviceUtil));
  if (*active >= context.threshold(kId, "sm")) return;
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = model::Severity::kCritical;
  finding.confidence = model::Confidence::kHigh;
  // Specific findings about copies have the time; this one says to stop and move less.
  finding.share_of_time =
      facts.value_or(FactId::kWaterfallCopyH2d, 0) + facts.value_or(FactId::kWaterfallCopyD2h, 0);
  finding.ranks = {context.timeline().ranks[busy->position].info.rank};
  finding.summary = fmt::format("PCIe is {} full while the GPU's SMs are at work {} of the time.",
                                percent(busy->value), percent(*active));
  add_evidence(context, verdict, FactId::kDeviceLinkBusy, busy->value, "link");
  add_evidence(context, verdict, used, *active, "sm", {}, "<");
  set_edits(verdict, fewer_bytes(0.25), fewer_bytes(0.5), fewer_bytes(0.9),
            "copies shrink to 25 to 90% of their bytes (half expected)");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules

#include "rules/device_shared.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "device.shared";
constexpr double kMuchMemory = 1024.0 * 1024 * 1024;  // bytes; a bare CUDA context takes less

// Alone on the GPU, kernels no longer take turns with the others': at best all of their time is
// won, at worst they ran beside ours.
analysis::Edit alone(double part) {
  analysis::Edit edit;
  edit.kernels.push_back({[](const model::KernelTraits& k, model::NameId) {
                            return k.klass != model::KernelClass::kComm;
                          },
                          {},
                          1 - part,
                          1});
  return edit;
}

}  // namespace

void judge_device_shared(const Context& context, Judgement& judgement) {
  const auto others = context.largest(FactId::kDeviceOthersUtil);
  if (!others) return not_judged(judgement, kId, context.missing(FactId::kDeviceOthersUtil));
  const model::FactSet& facts = context.job().ranks[others->position].facts;
  const double memory = facts.value_or(FactId::kDeviceOthersMemory, 0);
  const bool computes = others->value >= context.threshold(kId, "warn");
  if (!computes && memory < kMuchMemory) return;
  Verdict verdict = start_verdict(kId, computes ? Role::kCause : Role::kNote);
  model::Finding& finding = verdict.finding;
  finding.confidence = model::Confidence::kHigh;
  if (computes) finding.severity = severity_for(context, kId, others->value);
  finding.share_of_time = computes ? others->value : 0;
  finding.ranks = {context.timeline().ranks[others->position].info.rank};
  const double count = facts.value_or(FactId::kDeviceOthers, 1);
  finding.summary = fmt::format(
      "{:.0f} process{} from outside of this command {} the GPU: {} of the time, {} of memory.",
      count, count == 1 ? "" : "es", count == 1 ? "uses" : "use", percent(others->value),
      bytes(memory));
  add_evidence(context, verdict, FactId::kDeviceOthersUtil, others->value,
               others->value >= context.threshold(kId, "critical") ? "critical" : "warn");
  add_fact(context, verdict, facts, FactId::kDeviceOthersMemory);
  add_fact(context, verdict, facts, FactId::kDeviceOthers);
  if (computes) {
    constexpr double kMost = 0.9;
    const double share = std::min(kMost, others->value);
    set_edits(verdict, alone(share), alone(share * 0.6), alone(0),
              "the kernels get back 0 to 100% of the time that the others' ran (60% expected)");
  } else {
    finding.title = "Another process holds memory of the same GPU";
    finding.no_prediction = "it takes memory, not time";
  }
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules

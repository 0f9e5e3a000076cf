#include "rules/device_health.h"

#include <fmt/format.h>

#include <cctype>
#include <string>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

// Xid errors that a program causes by itself (NVIDIA's Xid catalogue): 13 graphics exception, 31
// memory page fault, 43 reset of a channel, 45 preemptive clean-up, 69 class error.
bool is_programs_own(double xid) {
  return xid == 13 || xid == 31 || xid == 43 || xid == 45 || xid == 69;
}

void add(std::string& list, const std::string& what) { list += (list.empty() ? "" : "; ") + what; }

}  // namespace

void judge_device_errors(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "device.errors";
  const auto errors = context.largest(FactId::kDeviceUncorrectedErrors);
  const auto xid = context.largest(FactId::kDeviceXid);
  const auto pending = context.largest(FactId::kDeviceRemapPending);
  const auto failed = context.largest(FactId::kDeviceRemapFailed);
  if (!errors && !xid && !pending && !failed) {
    return not_judged(judgement, kId, context.missing(FactId::kDeviceUncorrectedErrors));
  }
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  std::string list;
  bool grave = false;
  const auto rank_of = [&](const OnRank& at) {
    finding.ranks = {context.timeline().ranks[at.position].info.rank};
  };
  if (errors && errors->value > 0) {
    add(list, fmt::format("{:.0f} uncorrected memory errors came during the run", errors->value));
    add_evidence(context, verdict, FactId::kDeviceUncorrectedErrors, errors->value);
    grave = true;
    rank_of(*errors);
  }
  if (failed && failed->value > 0) {
    add(list, "memory rows could not be remapped");
    add_evidence(context, verdict, FactId::kDeviceRemapFailed, failed->value);
    grave = true;
    rank_of(*failed);
  }
  if (pending && pending->value > 0) {
    add(list, "a remapping of memory rows waits for a reset");
    add_evidence(context, verdict, FactId::kDeviceRemapPending, pending->value);
    rank_of(*pending);
  }
  if (xid && xid->value > 0) {
    add(list, fmt::format("the driver reported Xid {:.0f}{}", xid->value,
                          is_programs_own(xid->value) ? ", mostly an error of the program" : ""));
    add_evidence(context, verdict, FactId::kDeviceXid, xid->value);
    grave = grave || !is_programs_own(xid->value);
    rank_of(*xid);
  }
  if (list.empty()) return;
  list[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(list[0])));
  finding.summary = list + ".";
  finding.severity = grave ? model::Severity::kCritical : model::Severity::kWarning;
  finding.confidence = model::Confidence::kHigh;
  finding.no_prediction = "a failure, not a loss of time";
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_device_mig_slice(const Context& context, Judgement& judgement) {
  for (std::size_t i = 0; i < context.job().ranks.size(); ++i) {
    const std::string_view profile = context.job().ranks[i].facts.text(FactId::kDeviceMigProfile);
    if (profile.empty()) continue;
    Verdict verdict = start_verdict("device.mig_slice", Role::kNote);
    verdict.finding.confidence = model::Confidence::kHigh;
    verdict.finding.ranks = {context.timeline().ranks[i].info.rank};
    verdict.finding.summary = fmt::format("The device is a MIG instance {}.", profile);
    verdict.finding.no_prediction = "how it would run on a whole GPU is not known";
    judgement.verdicts.push_back(std::move(verdict));
    return;
  }
}

void judge_device_persistence_off(const Context& context, Judgement& judgement) {
  for (std::size_t i = 0; i < context.job().ranks.size(); ++i) {
    const auto on = context.job().ranks[i].facts.value(FactId::kDevicePersistence);
    if (!on || *on > 0) continue;
    Verdict verdict = start_verdict("device.persistence_off", Role::kNote);
    verdict.finding.confidence = model::Confidence::kHigh;
    verdict.finding.ranks = {context.timeline().ranks[i].info.rank};
    verdict.finding.summary = "The driver is loaded anew for the first process on the GPU.";
    verdict.finding.no_prediction = "it concerns the start alone";
    add_evidence(context, verdict, FactId::kDevicePersistence, *on);
    judgement.verdicts.push_back(std::move(verdict));
    return;
  }
}

}  // namespace pyrometer::rules

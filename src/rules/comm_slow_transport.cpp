#include "rules/comm_slow_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "comm.slow_transport";

analysis::Edit faster(double factor) {
  analysis::Edit edit;
  edit.comm_time = factor;
  return edit;
}

}  // namespace

void judge_comm_slow_transport(const Context& context, Judgement& judgement) {
  const auto exposed = context.largest(FactId::kCommExposedShare);
  if (!exposed || exposed->value < context.threshold(kId, "exposed")) return;
  const model::FactSet& facts = context.job().ranks[exposed->position].facts;
  const std::string off(facts.text(FactId::kCommTransportOff));
  const auto links = facts.value(FactId::kDeviceNvlinks);
  // Of the whole job it is measured from the last arrival on; one rank's alone is a lower bound.
  const auto job_wide = context.job().facts.value(FactId::kCommBusBandwidth);
  const auto bandwidth = job_wide ? job_wide : facts.value(FactId::kCommBusBandwidth);
  const bool is_off = !off.empty() && off != "none";
  const bool slow = links && *links > 0 && job_wide &&
                    *job_wide < context.threshold(kId, "bandwidth") &&
                    facts.value_or(FactId::kCommBytesPerStep, 0) >= context.threshold(kId, "bytes");
  if (!is_off && !slow) {
    if (off.empty()) {
      not_judged(judgement, kId, context.missing(FactId::kCommTransportOff));
    }
    return;
  }
  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.confidence = slow ? model::Confidence::kHigh : model::Confidence::kMedium;
  finding.share_of_time = exposed->value;
  finding.ranks = context.ranks_with(FactId::kCommExposedShare, context.threshold(kId, "exposed"));
  finding.summary = fmt::format("Communication is exposed {} of the time", percent(exposed->value));
  if (is_off) finding.summary += fmt::format(", and {} is set", off);
  if (slow) {
    finding.summary += fmt::format(
        "; {:.0f} NVLinks are up, and the bus bandwidth reached is {:.1f} GB/s", *links, *job_wide);
  }
  finding.summary += ".";
  add_evidence(context, verdict, FactId::kCommExposedShare, exposed->value, "exposed");
  if (bandwidth) {
    add_evidence(context, verdict, FactId::kCommBusBandwidth, *bandwidth,
                 slow ? "bandwidth" : std::string_view(), {}, "<");
  }
  if (slow) {
    set_edits(verdict, faster(0.15), faster(0.35), faster(1),
              "NVLink carries 1 to 7 times as much (3 expected)");
  } else {
    set_edits(verdict, faster(0.3), faster(0.6), faster(1),
              "the transport that is off carries 1 to 3 times as much (1.7 expected)");
  }
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules

#include "rules/debug_launch_blocking.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "debug.launch_blocking";

}  // namespace

void judge_debug_launch_blocking(const Context& context, Judgement& judgement) {
  const auto share = context.largest(FactId::kLaunchBlockingShare);
  if (!share) return not_judged(judgement, kId, context.missing(FactId::kLaunchBlockingShare));
  if (share->value < context.threshold(kId, "share")) return;

  Verdict verdict = start_verdict(kId);
  model::Finding& finding = verdict.finding;
  finding.severity = model::Severity::kCritical;
  finding.confidence = model::Confidence::kHigh;
  finding.ranks = context.ranks_with(FactId::kLaunchBlockingShare, context.threshold(kId, "share"));
  finding.share_of_time = 1;
  finding.summary = fmt::format(
      "{} of the kernel launches return only after their kernel has ended.", percent(share->value));
  add_evidence(context, verdict, FactId::kLaunchBlockingShare, share->value, "share");
  analysis::Edit edit;
  edit.remove_syncs = true;
  edit.copies_async = true;
  analysis::Edit faster = edit;
  faster.host_ops = 0.7;
  set_edits(verdict, faster, edit, edit,
            "launches return at once; at best the host also issues faster");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules

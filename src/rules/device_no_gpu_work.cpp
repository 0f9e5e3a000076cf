#include "rules/device_no_gpu_work.h"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "device.no_gpu_work";

}  // namespace

void judge_device_no_gpu_work(const Context& context, Judgement& judgement) {
  Verdict verdict = start_verdict(kId, Role::kNote);
  model::Finding& finding = verdict.finding;
  for (const model::RankTimeline& rank : context.timeline().ranks) {
    if (rank.activities.size() == 0) finding.ranks.push_back(rank.info.rank);
  }
  if (finding.ranks.empty()) return;
  finding.severity = model::Severity::kWarning;
  finding.confidence = model::Confidence::kHigh;
  finding.share_of_time = 1;
  const bool all = finding.ranks.size() == context.timeline().ranks.size();
  finding.summary =
      fmt::format("{} of {} rank{} recorded host activity only, no kernel and no copy on a device.",
                  all ? std::string("All") : std::to_string(finding.ranks.size()),
                  context.timeline().ranks.size(), context.timeline().ranks.size() == 1 ? "" : "s");
  finding.no_prediction = "without device activity there is nothing to replay";
  add_measure(context, verdict, "device activities", 0, "count");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules

#include "rules/kernels_low_occupancy.h"

#include <fmt/format.h>

#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {

void judge_kernels_low_occupancy(const Context& context, Judgement& judgement) {
  using model::FactId;
  constexpr std::string_view kId = "kernels.low_occupancy";
  const auto share = context.largest(FactId::kKernelsLowOccupancyShare);
  if (!share || share->value < context.threshold(kId, "share")) return;
  Verdict verdict = start_verdict(kId, Role::kNote);
  model::Finding& finding = verdict.finding;
  finding.share_of_time = share->value;
  finding.ranks =
      context.ranks_with(FactId::kKernelsLowOccupancyShare, context.threshold(kId, "share"));
  finding.summary = fmt::format(
      "{} of the time is in kernels of 50 µs and more that fill less than a quarter of the warps.",
      percent(share->value));
  add_evidence(context, verdict, FactId::kKernelsLowOccupancyShare, share->value, "share");
  add_fact(context, verdict, context.job().ranks[share->position].facts,
           FactId::kKernelsOccupancyMean);
  finding.no_prediction = "whether more warps would make them faster is not known";
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules

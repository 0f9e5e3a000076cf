#include "rules/ddp_settings.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

// Device time that is idle while the host issues work or runs other code.
double host_bound(const model::FactSet& facts) {
  return facts.value_or(FactId::kWaterfallIdleLaunch, 0) +
         facts.value_or(FactId::kWaterfallIdleHost, 0);
}

}  // namespace

void judge_ddp_data_parallel(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "ddp.data_parallel";
  constexpr std::string_view kStyle = "DataParallel ";
  for (std::size_t i = 0; i < context.job().ranks.size(); ++i) {
    const model::FactSet& facts = context.job().ranks[i].facts;
    const std::string_view style = facts.text(FactId::kDdpStyle);
    if (!style.starts_with(kStyle)) continue;
    const std::string_view count = style.substr(kStyle.size());
    double devices = 0;
    std::from_chars(count.data(), count.data() + count.size(), devices);
    if (devices < context.threshold(kId, "devices")) continue;
    Verdict verdict = start_verdict(kId);
    model::Finding& finding = verdict.finding;
    finding.confidence = model::Confidence::kHigh;
    finding.ranks = {context.timeline().ranks[i].info.rank};
    finding.share_of_time = host_bound(facts) + facts.value_or(FactId::kWaterfallCopyP2p, 0);
    finding.summary = fmt::format(
        "One process drives {:.0f} GPUs: the model is copied to each of them in every step, and "
        "their threads share one interpreter lock.",
        devices);
    add_measure(context, verdict, "devices of DataParallel", devices, "count", "devices");
    add_fact(context, verdict, facts, FactId::kWaterfallIdleLaunch);
    add_fact(context, verdict, facts, FactId::kWaterfallCopyP2p);
    finding.no_prediction = "one process per GPU is another program";
    judgement.verdicts.push_back(std::move(verdict));
    return;
  }
}

void judge_ddp_find_unused_parameters(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "ddp.find_unused_parameters";
  const auto on = context.largest(FactId::kDdpFindUnused);
  if (!on || on->value < 1) return;
  const model::FactSet& facts = context.job().ranks[on->position].facts;
  const double waiting = host_bound(facts);
  const bool matters = waiting >= context.threshold(kId, "share");
  Verdict verdict = start_verdict(kId, matters ? Role::kCause : Role::kNote);
  model::Finding& finding = verdict.finding;
  finding.ranks = context.ranks_with(FactId::kDdpFindUnused, 1);
  finding.summary = matters
                        ? fmt::format(
                              "The graph is searched in every step, and the device waits "
                              "for the host {} of the time.",
                              percent(waiting))
                        : "The graph is searched in every step; the device does not wait for it.";
  add_evidence(context, verdict, FactId::kDdpFindUnused, on->value);
  add_measure(context, verdict, "device idle for the host", waiting, "fraction", "share");
  // Its time is not told apart from the rest of the host's: it ranks below what has a model.
  finding.no_prediction = "the time of the search is not recorded by itself";
  judgement.verdicts.push_back(std::move(verdict));
}

void judge_ddp_bucket_size(const Context& context, Judgement& judgement) {
  constexpr std::string_view kId = "ddp.bucket_size";
  const auto size = context.largest(FactId::kDdpBucketMb);
  const auto exposed = context.largest(FactId::kCommExposedShare);
  if (!size || !exposed || exposed->value < context.threshold(kId, "exposed")) return;
  const bool small = size->value < context.threshold(kId, "low");
  if (!small && size->value <= context.threshold(kId, "high")) return;
  Verdict verdict = start_verdict(kId, Role::kNote);
  model::Finding& finding = verdict.finding;
  finding.ranks = {context.timeline().ranks[size->position].info.rank};
  finding.summary =
      fmt::format("Buckets of {:.0f} MiB{}, with {} exposed communication.", size->value,
                  small ? ", many small reductions" : "", percent(exposed->value));
  add_evidence(context, verdict, FactId::kDdpBucketMb, size->value, small ? "low" : "high", {},
               small ? "<" : ">");
  add_evidence(context, verdict, FactId::kCommExposedShare, exposed->value, "exposed");
  finding.no_prediction = "how latency and overlap change with the size is not known";
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules

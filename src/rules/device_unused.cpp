#include "rules/device_unused.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "rules/build.h"

namespace pyrometer::rules {
namespace {

using model::FactId;

constexpr std::string_view kId = "device.unused";

}  // namespace

void judge_device_unused(const Context& context, Judgement& judgement) {
  std::set<std::int32_t> used;
  std::map<std::int32_t, std::string> visible;
  for (const model::RankTimeline& rank : context.timeline().ranks) {
    for (const model::Device& device : rank.devices) {
      visible.emplace(device.ordinal, device.name);
      if (device.activities.size() > 0) used.insert(device.ordinal);
    }
  }
  // A job with more ranks than traces uses devices that are not seen here.
  for (const model::RankTimeline& rank : context.timeline().ranks) {
    if (rank.info.world_size > static_cast<std::int32_t>(context.timeline().ranks.size())) return;
  }
  // Where nothing trains, which GPUs should work is anybody's guess.
  if (context.steps() < 3) return;
  for (const auto& [ordinal, name] : visible) {
    if (name.empty()) return;
  }
  if (used.empty() || visible.size() <= used.size()) return;
  Verdict verdict = start_verdict(kId, Role::kNote);
  verdict.finding.summary = fmt::format("{} of {} visible GPUs did nothing.",
                                        visible.size() - used.size(), visible.size());
  verdict.finding.no_prediction = "how the work would spread is not known";
  for (const auto& [ordinal, name] : visible) {
    if (!used.contains(ordinal)) {
      verdict.finding.where.push_back(fmt::format("GPU {} ({})", ordinal, name));
    }
  }
  add_measure(context, verdict, "visible GPUs without work",
              static_cast<double>(visible.size() - used.size()), "count");
  judgement.verdicts.push_back(std::move(verdict));
}

}  // namespace pyrometer::rules

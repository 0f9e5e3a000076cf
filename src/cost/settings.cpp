#include "cost/settings.h"

#include "cost/used_gpus.h"

namespace pyrometer::cost {
namespace {

bool used_a_gpu(const model::Timeline& timeline, const model::JobAnalysis& job) {
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    if (!used_gpus(timeline.ranks[r], job.ranks[r]).empty()) return true;
  }
  return false;
}

}  // namespace

JobPrice price_of(const Settings& settings, const model::Timeline& timeline,
                  const model::JobAnalysis& job) {
  if (!settings.price && settings.prices == nullptr) return {};
  if (!used_a_gpu(timeline, job)) return {std::nullopt, "prices are of GPUs, and none was used"};
  if (settings.price) return {settings.price, {}};
  std::set<std::string> names;  // of the GPUs that the job was seen to run on
  for (std::size_t r = 0; r < job.ranks.size(); ++r) {
    for (const model::DeviceWaterfall& device : job.ranks[r].waterfall.devices) {
      if (device.window.length() > 0) names.insert(timeline.ranks[r].devices[device.device].name);
    }
  }
  if (names.empty()) return {std::nullopt, "no GPU of the job is known"};
  auto price = settings.prices->find(settings.choice, names);
  if (!price) return {std::nullopt, price.error().to_string()};
  return {std::move(*price), {}};
}

}  // namespace pyrometer::cost

#include <algorithm>

#include "rules/catalog.h"
#include "rules/rule.h"

namespace pyrometer::rules {

double Context::threshold(std::string_view id, std::string_view name) const {
  const auto given = settings_.thresholds.find(std::string(id) + "." + std::string(name));
  if (given != settings_.thresholds.end()) return given->second;
  const ThresholdInfo* info = find_threshold(id, name);
  return info == nullptr ? 0 : info->value;
}

std::optional<OnRank> Context::largest(model::FactId id) const {
  std::optional<OnRank> found;
  for (std::size_t i = 0; i < job_.ranks.size(); ++i) {
    const auto value = job_.ranks[i].facts.value(id);
    if (value && (!found || *value > found->value)) found = OnRank{i, *value};
  }
  return found;
}

std::optional<double> Context::mean(model::FactId id) const {
  double sum = 0;
  int count = 0;
  for (const model::RankAnalysis& rank : job_.ranks) {
    if (const auto value = rank.facts.value(id)) {
      sum += *value;
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return sum / count;
}

std::vector<std::int32_t> Context::ranks_with(model::FactId id, double value) const {
  std::vector<std::int32_t> ranks;
  for (std::size_t i = 0; i < job_.ranks.size(); ++i) {
    const auto own = job_.ranks[i].facts.value(id);
    if (own && *own >= value) ranks.push_back(timeline_.ranks[i].info.rank);
  }
  return ranks;
}

std::string Context::missing(model::FactId id) const {
  for (const model::RankAnalysis& rank : job_.ranks) {
    if (!rank.facts.has(id)) return std::string(rank.facts.missing_reason(id));
  }
  return "there is no rank to judge";
}

bool Context::recording() const {
  return std::any_of(timeline_.ranks.begin(), timeline_.ranks.end(),
                     [](const model::RankTimeline& rank) { return rank.run != nullptr; });
}

std::size_t Context::steps() const {
  std::size_t fewest = job_.ranks.empty() ? 0 : job_.ranks.front().steps.steps.size();
  for (const model::RankAnalysis& rank : job_.ranks) {
    fewest = std::min(fewest, rank.steps.steps.size());
  }
  return fewest;
}

}  // namespace pyrometer::rules

#include "rules/catalog.h"

#include <algorithm>

namespace pyrometer::rules {

const FindingInfo* find_finding(std::string_view id) {
  const auto all = finding_catalog();
  const auto at = std::find_if(all.begin(), all.end(),
                               [id](const FindingInfo& finding) { return finding.id == id; });
  return at == all.end() ? nullptr : &*at;
}

const ThresholdInfo* find_threshold(std::string_view finding, std::string_view name) {
  const auto all = threshold_catalog();
  const auto at = std::find_if(all.begin(), all.end(), [&](const ThresholdInfo& threshold) {
    return threshold.finding == finding && threshold.name == name;
  });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace pyrometer::rules

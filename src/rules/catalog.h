// What catalog/findings.json says about each finding.
#pragma once

#include <span>
#include <string_view>

namespace pyrometer::rules {

struct FindingInfo {
  std::string_view id;
  std::string_view title;
  std::string_view meaning;
  std::string_view measured;
  std::string_view confirm;  // may be empty, as those below
  std::string_view fix;      // never empty
  std::string_view code;
  std::string_view wrong_when;
};

struct ThresholdInfo {
  std::string_view finding;
  std::string_view name;
  double value;
  std::string_view unit;
  std::string_view help;
  std::string_view source;
};

[[nodiscard]] std::span<const FindingInfo> finding_catalog();
[[nodiscard]] std::span<const ThresholdInfo> threshold_catalog();

// nullptr when there is none of that id or name.
[[nodiscard]] const FindingInfo* find_finding(std::string_view id);
[[nodiscard]] const ThresholdInfo* find_threshold(std::string_view finding, std::string_view name);

}  // namespace pyrometer::rules

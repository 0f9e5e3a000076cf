// The table behind explicit host regions, from catalog/regions.json.
#pragma once

#include <span>
#include <string_view>

#include "analysis/host_state.h"

namespace pyrometer::analysis {

enum class RegionWhere : std::uint8_t { kAnnotation, kPython };
enum class RegionMatch : std::uint8_t { kPrefix, kContains, kWord };

struct RegionRule {
  RegionWhere where;
  RegionMatch match;
  std::string_view text;
  std::string_view also;  // must be contained as well; may be empty
  HostState state;        // kNone: looks like a region, but is none
};

[[nodiscard]] std::span<const RegionRule> region_rules();

// The state a range of this name stands for; HostState::kNone when it is no region.
[[nodiscard]] HostState region_of_name(std::string_view name, RegionWhere where);

}  // namespace pyrometer::analysis

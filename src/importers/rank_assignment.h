// Which rank each imported trace is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/timeline.h"

namespace pyrometer::importers {

// A trace before its rank is settled.
struct Candidate {
  model::RankTimeline timeline;       // info.file is set
  std::optional<std::int32_t> claim;  // what the trace itself says (distributedInfo)
};

// The rank in a file name: "rank-3", "rank3", "worker3_…", "host_3.pt.trace.json".
[[nodiscard]] std::optional<std::int32_t> rank_in_name(std::string_view path);

// Gives each a rank: its own claim, else the number in its file's name, else the lowest number that
// is free, in the order given. Of two that claim one rank, the second is left out if it holds the
// same, else it gets a free number. The notes say how it was decided. Sorted by rank.
[[nodiscard]] model::Timeline assign_ranks(std::vector<Candidate> candidates);

}  // namespace pyrometer::importers

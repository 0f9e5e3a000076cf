// A curve over time, drawn with characters.
#pragma once

#include <cstdint>
#include <span>

#include "tui/grid.h"

namespace pyrometer::tui {

enum class GraphStyle : std::uint8_t {
  kBraille,  // two samples in a column, four levels in a row
  kBlocks,   // one and eight
  kAscii,    // one and three
};

// How many samples a graph of this width shows.
[[nodiscard]] std::size_t samples_in(int width, GraphStyle style);

// Values from 0 to 1, oldest first; the latest stands at the right edge. NaN leaves a gap; a value
// of 0 shows on the base line, so that it can be told from a gap.
void draw_graph(Grid& grid, int y, int x, int width, int height, std::span<const float> values,
                GraphStyle graph, Style style);

}  // namespace pyrometer::tui

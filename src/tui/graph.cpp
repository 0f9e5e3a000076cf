#include "tui/graph.h"

#include <algorithm>
#include <cmath>

namespace pyrometer::tui {
namespace {

// Levels that a value fills, of `most`: at least one, unless it is missing.
int levels_of(float value, int most) {
  if (std::isnan(value)) return 0;
  const float share = std::clamp(value, 0.0F, 1.0F);
  return std::max(1, static_cast<int>(std::lround(share * static_cast<float>(most))));
}

char32_t braille(int left, int right) {
  // Dots from the bottom up (Unicode 15, table of U+2800).
  constexpr char32_t kLeft[] = {0x40, 0x04, 0x02, 0x01};
  constexpr char32_t kRight[] = {0x80, 0x20, 0x10, 0x08};
  char32_t dots = 0;
  for (int i = 0; i < std::min(left, 4); ++i) dots |= kLeft[i];
  for (int i = 0; i < std::min(right, 4); ++i) dots |= kRight[i];
  return 0x2800U + dots;
}

char32_t block(int level) {
  return level <= 0 ? U' ' : 0x2580U + static_cast<char32_t>(std::min(level, 8));
}

char32_t ascii(int level) {
  constexpr char32_t kLevels[] = {U' ', U'.', U':', U'#'};
  return kLevels[std::clamp(level, 0, 3)];
}

struct Shape {
  int samples;  // in a column
  int levels;   // in a row
};

Shape shape_of(GraphStyle style) {
  switch (style) {
    case GraphStyle::kBraille:
      return {2, 4};
    case GraphStyle::kBlocks:
      return {1, 8};
    case GraphStyle::kAscii:
      break;
  }
  return {1, 3};
}

}  // namespace

std::size_t samples_in(int width, GraphStyle style) {
  return static_cast<std::size_t>(std::max(width, 0)) *
         static_cast<std::size_t>(shape_of(style).samples);
}

void draw_graph(Grid& grid, int y, int x, int width, int height, std::span<const float> values,
                GraphStyle graph, Style style) {
  if (width <= 0 || height <= 0) return;
  const Shape shape = shape_of(graph);
  const auto room = static_cast<int>(samples_in(width, graph));
  const auto count = std::min(static_cast<int>(values.size()), room);
  values = values.last(static_cast<std::size_t>(count));
  const int most = shape.levels * height;
  // Of the sample that stands at place `i` from the left.
  const auto level = [&](int i) {
    const int at = i - (room - count);
    return at < 0 ? 0 : levels_of(values[static_cast<std::size_t>(at)], most);
  };
  for (int column = 0; column < width; ++column) {
    const int first = level(column * shape.samples);
    const int second = shape.samples == 2 ? level(column * 2 + 1) : 0;
    for (int row = 0; row < height; ++row) {
      const int below = (height - 1 - row) * shape.levels;
      const int left = std::max(0, first - below);
      const int right = std::max(0, second - below);
      if (left == 0 && right == 0) continue;
      const char32_t letter = graph == GraphStyle::kBraille  ? braille(left, right)
                              : graph == GraphStyle::kBlocks ? block(left)
                                                             : ascii(left);
      grid.fill(y + row, x + column, 1, letter, style);
    }
  }
}

}  // namespace pyrometer::tui

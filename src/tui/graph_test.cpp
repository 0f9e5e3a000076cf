#include "tui/graph.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace pyrometer::tui {
namespace {

constexpr float kNothing = std::numeric_limits<float>::quiet_NaN();

std::string drawn(const std::vector<float>& values, int width, int height, GraphStyle style) {
  Grid grid(width, height, true);
  draw_graph(grid, 0, 0, width, height, values, style, {});
  return grid.text();
}

TEST(Graph, DrawsTwoSamplesInAColumnOfBraille) {
  EXPECT_EQ(drawn({0, 0.25, 0.5, 0.75, 1, 1}, 3, 1, GraphStyle::kBraille), "⣀⣴⣿\n");
}

TEST(Graph, DrawsHigherThanOneRow) {
  EXPECT_EQ(drawn({0.5, 1}, 2, 2, GraphStyle::kBlocks), " █\n██\n");
  EXPECT_EQ(drawn({0.5, 1}, 1, 2, GraphStyle::kBraille), "⢸\n⣿\n");
}

TEST(Graph, StandsAtTheRightEdgeAndKeepsTheLatest) {
  EXPECT_EQ(drawn({1}, 3, 1, GraphStyle::kAscii), "  #\n");
  EXPECT_EQ(drawn({1, 0, 0, 0.4F}, 2, 1, GraphStyle::kAscii), "..\n");
}

TEST(Graph, LeavesGapsAndShowsZero) {
  EXPECT_EQ(drawn({0, kNothing, 1}, 3, 1, GraphStyle::kBlocks), "▁ █\n");
}

TEST(Graph, BearsAnything) {
  EXPECT_EQ(drawn({-5, 7, std::numeric_limits<float>::infinity()}, 3, 1, GraphStyle::kBlocks),
            "▁██\n");
  EXPECT_EQ(drawn({}, 2, 1, GraphStyle::kBraille), "\n");
  EXPECT_EQ(drawn({1}, 0, 0, GraphStyle::kBraille), "");
}

}  // namespace
}  // namespace pyrometer::tui

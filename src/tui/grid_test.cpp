#include "tui/grid.h"

#include <gtest/gtest.h>

namespace pyrometer::tui {
namespace {

TEST(Grid, CutsOffWhatLiesOutside) {
  Grid grid(5, 2, true);
  EXPECT_EQ(grid.put(0, 3, "abcdef"), 5);
  EXPECT_EQ(grid.put(-1, 0, "x"), 1);
  grid.put(7, 0, "x");
  grid.put(1, -2, "abc");
  EXPECT_EQ(grid.text(), "   ab\nc\n");
}

TEST(Grid, KeepsWideLettersWhole) {
  Grid grid(5, 1, true);
  EXPECT_EQ(grid.put(0, 0, "語語語"), 4);  // the third has no room
  EXPECT_EQ(grid.line(0), "語語");
  grid.put(0, 1, "x");  // on the right half of the first
  EXPECT_EQ(grid.line(0), " x語");
  grid.put(0, 2, "y");
  EXPECT_EQ(grid.line(0), " xy");
}

TEST(Grid, KeepsACombiningMarkWithItsLetter) {
  Grid grid(5, 1, true);
  EXPECT_EQ(grid.put(0, 0, "e\u0301x"), 2);
  EXPECT_EQ(grid.line(0), "e\u0301x");
  grid.put(0, 0, "a");
  EXPECT_EQ(grid.line(0), "ax");
}

TEST(Grid, LetsNothingSteerTheTerminal) {
  Grid grid(20, 1, true);
  grid.put(0, 0,
           "a\x1b[2Jb\nc\x9b"
           "d");
  for (int x = 0; x < grid.width(); ++x) EXPECT_GE(grid.at(0, x).letter, U' ');
  Grid ascii(20, 1, false);
  ascii.put(0, 0, "µs 語");
  EXPECT_EQ(ascii.line(0), "us ?");
}

TEST(Grid, ShortensInTheMiddleAndAligns) {
  Grid grid(12, 2, true);
  grid.put_short(0, 0, "abcdefghijklmnop", 8);
  grid.put_right(1, 12, "42", 5);
  EXPECT_EQ(grid.text(), "abcde…op\n          42\n");
  EXPECT_EQ(grid.put_short(0, 3, "abc", 0), 3);
}

TEST(Grid, IsEmptyWithoutRoom) {
  Grid grid(0, 0, true);
  grid.put(0, 0, "語");
  grid.fill(0, 0, 3, U'x');
  EXPECT_EQ(grid.text(), "");
}

}  // namespace
}  // namespace pyrometer::tui

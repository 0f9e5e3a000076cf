// What is to be seen: a grid of styled cells, without a terminal.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "output/page.h"

namespace pyrometer::tui {

using output::Ink;

struct Style {
  Ink ink = Ink::kPlain;
  bool reverse = false;
  bool bold = false;
  friend bool operator==(const Style&, const Style&) = default;
};

struct Cell {
  char32_t letter = U' ';
  char32_t mark = 0;  // one combining mark over it; 0: none
  Style style;
  std::uint8_t columns = 1;  // 2: the next cell belongs to it, and has 0
  friend bool operator==(const Cell&, const Cell&) = default;
};

// Whatever is put outside of it is cut off.
class Grid {
 public:
  static constexpr int kNoLimit = std::numeric_limits<int>::max();

  Grid(int width, int height, bool unicode);

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] int height() const { return height_; }
  [[nodiscard]] bool unicode() const { return unicode_; }

  // Untrusted text: passes through output::printable(). At most `room` columns; returns the column
  // after it.
  int put(int y, int x, std::string_view text, Style style = {}, int room = kNoLimit);
  // The same, shortened in the middle where it does not fit.
  int put_short(int y, int x, std::string_view text, int room, Style style = {});
  // So that it ends before column `end`, in `room` columns.
  void put_right(int y, int end, std::string_view text, int room, Style style = {});
  void fill(int y, int x, int count, char32_t letter, Style style = {});
  void set_reverse(int y, int x, int count);

  [[nodiscard]] const Cell& at(int y, int x) const;
  // The row as text, without blanks at the end.
  [[nodiscard]] std::string line(int y) const;
  // All rows, a line break after each.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] Cell* cell(int y, int x);
  void set(int y, int x, const Cell& value);

  int width_;
  int height_;
  bool unicode_;
  std::vector<Cell> cells_;
};

[[nodiscard]] std::string utf8_of(char32_t letter);

}  // namespace pyrometer::tui

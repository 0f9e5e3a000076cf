#include "tui/grid.h"

#include <algorithm>

#include "base/utf8.h"
#include "output/display.h"

namespace pyrometer::tui {

std::string utf8_of(char32_t c) {
  std::string out;
  const auto byte = [&out](char32_t bits) { out += static_cast<char>(bits); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0U | (c >> 6U));
    byte(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    byte(0xE0U | (c >> 12U));
    byte(0x80U | ((c >> 6U) & 0x3FU));
    byte(0x80U | (c & 0x3FU));
  } else {
    byte(0xF0U | (c >> 18U));
    byte(0x80U | ((c >> 12U) & 0x3FU));
    byte(0x80U | ((c >> 6U) & 0x3FU));
    byte(0x80U | (c & 0x3FU));
  }
  return out;
}

Grid::Grid(int width, int height, bool unicode)
    : width_(std::max(width, 0)),
      height_(std::max(height, 0)),
      unicode_(unicode),
      cells_(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_)) {}

Cell* Grid::cell(int y, int x) {
  if (y < 0 || y >= height_ || x < 0 || x >= width_) return nullptr;
  return &cells_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                 static_cast<std::size_t>(x)];
}

const Cell& Grid::at(int y, int x) const {
  return cells_.at(static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                   static_cast<std::size_t>(x));
}

// Half of a wide letter cannot stay.
void Grid::set(int y, int x, const Cell& value) {
  Cell* const here = cell(y, x);
  if (here == nullptr) return;
  if (here->columns == 0) {
    if (Cell* before = cell(y, x - 1); before != nullptr && before->columns == 2) {
      before->letter = U' ';
      before->columns = 1;
    }
  }
  if (here->columns == 2) {
    if (Cell* after = cell(y, x + 1); after != nullptr) *after = {.style = after->style};
  }
  *here = value;
}

int Grid::put(int y, int x, std::string_view text, Style style, int room) {
  const int end = room < width_ - x ? x + room : width_;
  const std::string clean = output::printable(text, unicode_);
  std::string_view rest = clean;
  int last = -1;  // column of the last letter
  while (!rest.empty()) {
    const base::CodePoint code = base::decode_utf8(rest);
    const int columns = output::display_width(rest.substr(0, code.length));
    rest.remove_prefix(code.length);
    if (columns == 0) {
      if (Cell* under = cell(y, last); under != nullptr && under->mark == 0) {
        under->mark = code.value;
      }
      continue;
    }
    if (x + columns > end) break;
    set(y, x, {.letter = code.value, .style = style});
    if (columns == 2) {
      set(y, x + 1, {.style = style});
      Cell* const first = cell(y, x);
      Cell* const second = cell(y, x + 1);
      if (first != nullptr && second != nullptr) {
        first->columns = 2;
        second->columns = 0;
      }
    }
    last = x;
    x += columns;
  }
  return x;
}

int Grid::put_short(int y, int x, std::string_view text, int room, Style style) {
  if (room <= 0) return x;
  const std::string clean = output::printable(text, unicode_);
  return put(y, x, output::shorten_middle(clean, room, unicode_), style, room);
}

void Grid::put_right(int y, int end, std::string_view text, int room, Style style) {
  const std::string clean = output::printable(text, unicode_);
  const int width = std::min(output::display_width(clean), room);
  put(y, end - width, clean, style, width);
}

void Grid::fill(int y, int x, int count, char32_t letter, Style style) {
  for (int i = 0; i < count; ++i) set(y, x + i, {.letter = letter, .style = style});
}

void Grid::set_reverse(int y, int x, int count) {
  for (int i = 0; i < count; ++i) {
    if (Cell* here = cell(y, x + i); here != nullptr) here->style.reverse = true;
  }
}

std::string Grid::line(int y) const {
  std::string out;
  for (int x = 0; x < width_; ++x) {
    const Cell& here = at(y, x);
    if (here.columns == 0) continue;
    out += utf8_of(here.letter);
    if (here.mark != 0) out += utf8_of(here.mark);
  }
  while (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string Grid::text() const {
  std::string out;
  for (int y = 0; y < height_; ++y) out += line(y) + '\n';
  return out;
}

}  // namespace pyrometer::tui

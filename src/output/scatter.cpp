#include "output/scatter.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace pyrometer::output {
namespace {

constexpr int kHeight = 12;

char mark_of(const ScatterPoint& point) {
  if (point.is_best) return '#';
  if (point.is_first) return 'o';
  return point.on_front ? '*' : '.';
}

// Foremost last.
constexpr std::string_view kOrder = " .*o#";

int cell(double value, double low, double high, int cells) {
  if (!(high > low)) return cells / 2;
  return std::clamp(static_cast<int>(std::lround((value - low) / (high - low) * (cells - 1))), 0,
                    cells - 1);
}

}  // namespace

std::vector<std::string> text_scatter(const Scatter& scatter, int width) {
  if (scatter.points.empty()) return {};
  const auto by_x = [](const ScatterPoint& a, const ScatterPoint& b) { return a.x < b.x; };
  const auto by_y = [](const ScatterPoint& a, const ScatterPoint& b) { return a.y < b.y; };
  const auto [left, right] =
      std::minmax_element(scatter.points.begin(), scatter.points.end(), by_x);
  const auto [bottom, top] =
      std::minmax_element(scatter.points.begin(), scatter.points.end(), by_y);
  const std::size_t margin = std::max(scatter.y_low.size(), scatter.y_high.size());
  constexpr int kLeast = 10;
  const int cells = std::max(kLeast, width - static_cast<int>(margin) - 3);
  std::vector<std::string> grid(kHeight, std::string(static_cast<std::size_t>(cells), ' '));
  for (const ScatterPoint& point : scatter.points) {
    const auto row =
        static_cast<std::size_t>(kHeight - 1 - cell(point.y, bottom->y, top->y, kHeight));
    const auto column = static_cast<std::size_t>(cell(point.x, left->x, right->x, cells));
    char& at = grid[row][column];
    const char mark = mark_of(point);
    if (kOrder.find(mark) > kOrder.find(at)) at = mark;
  }
  std::vector<std::string> lines = {scatter.y_title};
  for (int row = 0; row < kHeight; ++row) {
    const std::string& label = row == 0             ? scatter.y_high
                               : row == kHeight - 1 ? scatter.y_low
                                                    : std::string();
    std::string line = std::string(margin - label.size(), ' ') + label + " |" +
                       grid[static_cast<std::size_t>(row)];
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  lines.push_back(std::string(margin + 1, ' ') + "+" +
                  std::string(static_cast<std::size_t>(cells), '-'));
  const std::size_t used = scatter.x_low.size() + scatter.x_high.size();
  const std::size_t room = static_cast<std::size_t>(cells);
  std::string axis = std::string(margin + 2, ' ') + scatter.x_low +
                     std::string(room > used ? room - used : 1, ' ') + scatter.x_high;
  lines.push_back(std::move(axis));
  lines.push_back(std::string(margin + 2, ' ') + scatter.x_title +
                  "   # best  o first  * on the front  . others");
  return lines;
}

}  // namespace pyrometer::output

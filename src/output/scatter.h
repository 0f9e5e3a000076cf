// A scatter plot of a few points: as text here, as SVG in svg_scatter.h.
#pragma once

#include <string>
#include <vector>

namespace pyrometer::output {

struct ScatterPoint {
  double x = 0, y = 0;
  bool on_front = false;
  bool is_first = false;  // what the others are compared with
  bool is_best = false;
  std::string label;  // names it where there is room (SVG)
};

struct Scatter {
  std::string x_title, y_title;
  // Ends of the axes in words, of the least and the largest value.
  std::string x_low, x_high, y_low, y_high;
  std::vector<ScatterPoint> points;  // finite
};

// Lines of ASCII, at most `width` columns (40 or more) wide: # the best, o the first, * on the
// front, . others; where several fall together the foremost of these. The y axis goes up.
[[nodiscard]] std::vector<std::string> text_scatter(const Scatter& scatter, int width);

}  // namespace pyrometer::output

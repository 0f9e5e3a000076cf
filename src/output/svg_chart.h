// Charts as SVG: bars by configuration, and a scatter plot. No script, no font, nothing to load.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "output/scatter.h"

namespace pyrometer::output {

struct Bar {
  std::string label;
  double value = 0;        // ≥ 0
  std::string value_text;  // behind the bar
  bool is_first = false;
  bool is_best = false;
};

// Collects charts under each other in one image.
class SvgChart {
 public:
  void add_bars(std::string_view title, const std::vector<Bar>& bars);
  // Points with a label show it when they are pointed at; those on the front are joined.
  void add_scatter(std::string_view title, const Scatter& scatter);
  [[nodiscard]] bool empty() const { return body_.empty(); }
  // The whole image, an <svg> element.
  [[nodiscard]] std::string finish() const;

 private:
  void text(double x, double y, std::string_view words, std::string_view style);

  std::string body_;
  double height_ = 0;
};

}  // namespace pyrometer::output

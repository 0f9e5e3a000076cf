#include "output/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "output/xml_text.h"

namespace pyrometer::output {
namespace {

constexpr double kWidth = 800;
constexpr double kMargin = 16;
constexpr double kTitle = 34;
constexpr double kLine = 20;

std::string_view colour(bool is_best, bool is_first, bool on_front) {
  if (is_best) return "#d1495b";
  if (is_first) return "#2e6f95";
  return on_front ? "#8d6a9f" : "#9aa5b1";
}

// From values to the picture.
struct Axis {
  double low = 0, high = 0;  // values
  double from = 0, to = 0;   // where they are drawn
  [[nodiscard]] double at(double value) const {
    return high > low ? from + (value - low) / (high - low) * (to - from) : (from + to) / 2;
  }
};

Axis axis_of(const Scatter& scatter, double ScatterPoint::*value, double from, double to) {
  Axis axis{.low = scatter.points.front().*value,
            .high = scatter.points.front().*value,
            .from = from,
            .to = to};
  for (const ScatterPoint& point : scatter.points) {
    axis.low = std::min(axis.low, point.*value);
    axis.high = std::max(axis.high, point.*value);
  }
  return axis;
}

}  // namespace

void SvgChart::text(double x, double y, std::string_view words, std::string_view style) {
  body_ +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, xml_text(words));
}

void SvgChart::add_bars(std::string_view title, const std::vector<Bar>& bars) {
  if (bars.empty()) return;
  text(kMargin, height_ + kTitle - 10, title, "class=\"title\"");
  height_ += kTitle;
  double most = 0;
  std::size_t longest = 0;
  for (const Bar& bar : bars) {
    most = std::max(most, bar.value);
    longest = std::max(longest, bar.label.size());
  }
  constexpr double kLetter = 7;
  constexpr double kValueRoom = 110;
  const double left = kMargin + std::min(kWidth / 2, kLetter * static_cast<double>(longest)) + 8;
  const double room = kWidth - left - kValueRoom;
  for (const Bar& bar : bars) {
    const double length = most > 0 ? room * bar.value / most : 0;
    text(left - 8, height_ + 14, bar.label, "text-anchor=\"end\"");
    body_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n", left,
        height_ + 3, length, kLine - 6, colour(bar.is_best, bar.is_first, false));
    text(left + length + 6, height_ + 14, bar.value_text, "");
    height_ += kLine;
  }
}

void SvgChart::add_scatter(std::string_view title, const Scatter& scatter) {
  if (scatter.points.empty()) return;
  constexpr double kPlotHeight = 300;
  constexpr double kLeft = 90;
  constexpr double kInset = 12;
  text(kMargin, height_ + kTitle - 10, title, "class=\"title\"");
  height_ += kTitle;
  const double top = height_;
  const double bottom = top + kPlotHeight;
  const double right = kWidth - kMargin;
  const Axis x = axis_of(scatter, &ScatterPoint::x, kLeft + kInset, right - kInset);
  const Axis y = axis_of(scatter, &ScatterPoint::y, bottom - kInset, top + kInset);
  body_ +=
      fmt::format("<path d=\"M{:.1f} {:.1f}V{:.1f}H{:.1f}\" fill=\"none\" stroke=\"#52606d\"/>\n",
                  kLeft, top, bottom, right);
  std::vector<ScatterPoint> front;
  for (const ScatterPoint& point : scatter.points) {
    if (point.on_front) front.push_back(point);
  }
  std::sort(front.begin(), front.end(),
            [](const ScatterPoint& a, const ScatterPoint& b) { return a.x < b.x; });
  std::string line;
  for (const ScatterPoint& point : front) {
    line += fmt::format("{}{:.1f} {:.1f}", line.empty() ? "M" : "L", x.at(point.x), y.at(point.y));
  }
  if (front.size() > 1) {
    body_ +=
        "<path d=\"" + line + "\" fill=\"none\" stroke=\"#8d6a9f\" stroke-dasharray=\"4 3\"/>\n";
  }
  for (const ScatterPoint& point : scatter.points) {
    body_ += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\" fill=\"{}\"><title>{}</title></circle>\n",
        x.at(point.x), y.at(point.y), colour(point.is_best, point.is_first, point.on_front),
        xml_text(point.label));
  }
  text(kLeft - 8, top + kInset + 4, scatter.y_high, "text-anchor=\"end\"");
  text(kLeft - 8, (top + bottom) / 2, scatter.y_title, "text-anchor=\"end\"");
  text(kLeft - 8, bottom - kInset + 4, scatter.y_low, "text-anchor=\"end\"");
  text(kLeft + kInset, bottom + 18, scatter.x_low, "");
  text((kLeft + right) / 2, bottom + 18, scatter.x_title, "text-anchor=\"middle\"");
  text(right - kInset, bottom + 18, scatter.x_high, "text-anchor=\"end\"");
  height_ = bottom + 26;
}

std::string SvgChart::finish() const {
  const double legend = height_ + kTitle;
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" "
      "height=\"{1:.0f}\">\n<style>text{{font:12px sans-serif;fill:#323f4b}}"
      ".title{{font-weight:bold;font-size:14px}}</style>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
      kWidth, legend + 8);
  out += body_;
  struct Mark {
    const char* words;
    std::string_view colour;
  };
  const Mark marks[] = {{"best", colour(true, false, false)},
                        {"first", colour(false, true, false)},
                        {"on the front", colour(false, false, true)},
                        {"others", colour(false, false, false)}};
  double x = kMargin;
  for (const Mark& mark : marks) {
    out += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n", x + 5,
                       legend - 8, mark.colour);
    out +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 15, legend - 4, mark.words);
    constexpr double kStep = 110;
    x += kStep;
  }
  return out + "</svg>\n";
}

}  // namespace pyrometer::output

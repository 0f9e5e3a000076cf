// The parts that a screen is made of.
#pragma once

#include "tui/screen.h"

namespace pyrometer::tui {

// What all parts draw from and on.
struct Part {
  const Sight& sight;
  Ui& ui;
  const History& history;
  const Looks& looks;
  Screen& screen;
};

struct Area {
  int y = 0;
  int height = 0;
};

// One row: host, time, driver, what the sources do.
void put_header(const Part& part, int y);
// One row: the last thing that happened, or what the screen has to say.
void put_message(const Part& part, int y);
// One row.
void put_keys(const Part& part, int y);

inline constexpr int kHighestGraph = 8;  // rows of a graph in the table of GPUs

// How many rows the table of GPUs takes at least, titles included.
[[nodiscard]] int rows_of_devices(const Part& part);
// The table of GPUs, with graphs below each where there is room.
void put_devices(const Part& part, Area area);
// One GPU: large graphs, then every metric.
void put_device_detail(const Part& part, Area area);
// Why there are no GPUs.
void put_problem(const Part& part, Area area);
void put_processes(const Part& part, Area area);
void put_help(const Part& part, Area area);

// In the middle, over everything else.
void put_why(const Part& part);
void put_signal_menu(const Part& part);

// A row of prose or a label that stands beside it, in a text that scrolls.
struct TextRow {
  std::string label;  // in a column of its own; may be empty
  std::string text;
  Style style{};
};
// Text wrapped to `width`, the label's column `label_width` wide.
[[nodiscard]] std::vector<TextRow> wrap_rows(const std::vector<TextRow>& rows, int label_width,
                                             int width, bool unicode);

// One graph with its name and, where it is known, its value: `height` rows.
void put_curve(const Part& part, const readout::Device& device, Curve curve, Area area, int x,
               int width);
// The curve's value in words: "87%", "70.1 GiB", "655 W".
[[nodiscard]] std::string curve_value(const readout::Device& device, Curve curve);

// "3:07", "12:34:56", "5d 02h".
[[nodiscard]] std::string running_text(double seconds);

}  // namespace pyrometer::tui

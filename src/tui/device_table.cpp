#include <fmt/format.h>

#include <algorithm>

#include "output/bars.h"
#include "output/display.h"
#include "output/units.h"
#include "readout/device_words.h"
#include "tui/parts.h"

namespace pyrometer::tui {
namespace {

using readout::Device;
using readout::number_of;

constexpr double kGib = 1 << 30;
constexpr double kGiga = 1e9;
constexpr double kPercent = 100;
constexpr int kGap = 2;
constexpr int kWidestBar = 12;
constexpr int kState = 12;       // columns of the state at least
constexpr int kRoomyState = 28;  // before bars take what is left

struct Shown {
  std::string text;
  Ink ink = Ink::kPlain;
  double bar = -1;  // share of a bar before it; negative: none
};

struct Column {
  std::string_view title;
  int width;
  int rank;  // the highest goes first where room is short; 0 stays
  bool has_bar;
  bool is_left;
  Shown (*cell)(const Device& device);
  int bar = 0;  // columns of the bar
};

std::string whole(std::optional<double> number, double scale = 1) {
  return number ? fmt::format("{:.0f}", *number * scale) : "–";
}

std::string pair(const std::string& part, const std::string& of) {
  return part == "–" && of == "–" ? part : part + "/" + of;
}

Shown share(const Device& device, MetricId metric) {
  const auto value = number_of(device, metric);
  return {whole(value, kPercent), readout::busy_ink(value)};
}

Shown busy(const Device& device) {
  const auto active = number_of(device, MetricId::kGpuSmActive);
  const auto value = value_now(device, Curve::kBusy);
  return {whole(value, kPercent) + (value && !active ? "*" : ""), readout::busy_ink(value),
          value.value_or(-1)};
}

Shown memory(const Device& device) {
  const auto used = number_of(device, MetricId::kGpuMemoryUsed);
  const auto total = number_of(device, MetricId::kGpuMemoryTotal);
  const auto text = [](std::optional<double> bytes) {
    return bytes ? fmt::format("{:.1f}", *bytes / kGib) : std::string("–");
  };
  return {pair(text(used), text(total)), readout::memory_ink(device),
          used && total && *total > 0 ? *used / *total : -1};
}

Shown traffic(const Device& device, MetricId in, MetricId out) {
  const auto text = [&](MetricId metric) {
    const auto rate = number_of(device, metric);
    if (!rate) return std::string("–");
    const double giga = *rate / kGiga;
    return fmt::format("{:.{}f}", giga, giga < 9.95 ? 2 : giga < 99.5 ? 1 : 0);
  };
  return {pair(text(in), text(out))};
}

Shown name(const Device& device) {
  const std::string profile = text_of(device, MetricId::kGpuMigProfile);
  if (!profile.empty()) return {"MIG " + profile};
  std::string text = text_of(device, MetricId::kGpuName);
  constexpr std::string_view kMaker = "NVIDIA ";
  if (text.starts_with(kMaker)) text.erase(0, kMaker.size());
  return {text.empty() ? "–" : text};
}

std::vector<Column> columns_for(int width, int label_width) {
  std::vector<Column> columns = {
      {"GPU", std::max(3, label_width), 0, false, true,
       [](const Device& d) {
         return Shown{label_of(d), Ink::kStrong};
       }},
      {"name", 14, 9, false, true, name},
      {"SM %", 5, 0, true, false, busy},
      {"tensor %", 8, 3, false, false,
       [](const Device& d) { return share(d, MetricId::kGpuTensorActive); }},
      {"occ. %", 6, 7, false, false,
       [](const Device& d) { return share(d, MetricId::kGpuSmOccupancy); }},
      {"DRAM %", 6, 4, false, false,
       [](const Device& d) { return share(d, MetricId::kGpuDramActive); }},
      {"memory GiB", 11, 0, true, false, memory},
      {"power W", 9, 2, false, false,
       [](const Device& d) {
         return Shown{pair(whole(number_of(d, MetricId::kGpuPower)),
                           whole(number_of(d, MetricId::kGpuPowerLimit)))};
       }},
      {"°C", 3, 1, false, false,
       [](const Device& d) {
         return Shown{whole(number_of(d, MetricId::kGpuTemperature)), readout::temperature_ink(d)};
       }},
      {"SM MHz", 9, 6, false, false,
       [](const Device& d) {
         return Shown{pair(whole(number_of(d, MetricId::kGpuClockSm)),
                           whole(number_of(d, MetricId::kGpuClockSmMax)))};
       }},
      {"PCIe GB/s", 9, 8, false, false,
       [](const Device& d) { return traffic(d, MetricId::kGpuPcieRx, MetricId::kGpuPcieTx); }},
      {"NVLink GB/s", 11, 5, false, false,
       [](const Device& d) { return traffic(d, MetricId::kGpuNvlinkRx, MetricId::kGpuNvlinkTx); }}};
  const auto taken = [&] {
    int sum = kState;
    for (const Column& column : columns) sum += column.width + kGap;
    return sum;
  };
  while (taken() > width) {
    const auto last = std::ranges::max_element(columns, {}, &Column::rank);
    if (last->rank == 0) break;
    columns.erase(last);
  }
  int left = width - taken() - (kRoomyState - kState);
  for (Column& column : columns) {
    if (!column.has_bar || left <= 4) continue;
    column.bar = std::min(left / 2 + 1, kWidestBar);
    column.width += column.bar;
    left -= column.bar;
  }
  return columns;
}

// The last Xid before what holds it back.
int put_state(Grid& grid, int y, int x, const Device& device) {
  const double xid = number_of(device, MetricId::kGpuXid).value_or(0);
  if (xid > 0) {
    x = grid.put(y, x, fmt::format("Xid {:.0f}", xid), {.ink = Ink::kBad, .bold = true}) + 1;
  }
  const output::Span state = readout::condition_of(device);
  return grid.put_short(y, x, state.text, grid.width() - x, {.ink = state.ink});
}

void put_row(Grid& grid, int y, const std::vector<Column>& columns, const Device& device) {
  int x = 0;
  for (const Column& column : columns) {
    const Shown shown = column.cell(device);
    if (column.bar > 1 && shown.bar >= 0) {
      grid.put(y, x, output::bar(std::clamp(shown.bar, 0.0, 1.0), column.bar - 1, grid.unicode()),
               {.ink = shown.ink});
    }
    if (column.is_left) {
      grid.put_short(y, x, shown.text, column.width, {.ink = shown.ink});
    } else {
      grid.put_right(y, x + column.width, shown.text, column.width - column.bar,
                     {.ink = shown.ink});
    }
    x += column.width + kGap;
  }
  put_state(grid, y, x, device);
}

void put_titles(Grid& grid, int y, const std::vector<Column>& columns, bool is_focused) {
  const Style style{.ink = is_focused ? Ink::kInfo : Ink::kFaint, .bold = is_focused};
  int x = 0;
  for (const Column& column : columns) {
    if (column.is_left) {
      grid.put(y, x, column.title, style, column.width);
    } else {
      grid.put_right(y, x + column.width, column.title, column.width, style);
    }
    x += column.width + kGap;
  }
  grid.put(y, x, "state", style);
}

// Rows of graphs below each GPU, as far as there is room for all of them.
int graph_rows(const readout::Snapshot& snapshot, int room) {
  const auto whole_gpus =
      static_cast<int>(std::ranges::count(snapshot.devices, false, &Device::is_mig));
  const int left = room - 1 - static_cast<int>(snapshot.devices.size());
  if (whole_gpus == 0 || left < whole_gpus) return 0;
  return std::min(kHighestGraph, left / whole_gpus);
}

constexpr int kIndent = 4;
constexpr int kNarrowestGraph = 30;

void put_graphs(const Part& part, const Device& device, Area area) {
  const int width = part.screen.grid.width() - kIndent;
  const int count = std::clamp(width / (kNarrowestGraph + kGap), 1, 5);
  const int each = (width - (count - 1) * kGap) / count;
  for (int i = 0; i < count; ++i) {
    const auto curve =
        static_cast<Curve>(static_cast<std::size_t>(part.ui.first_curve + i) % kCurves);
    put_curve(part, device, curve, area, kIndent + i * (each + kGap), each);
  }
}

}  // namespace

std::string curve_value(const Device& device, Curve curve) {
  const auto value = value_now(device, curve);
  if (!value) return {};
  switch (curve) {
    case Curve::kBusy:
    case Curve::kTensor:
    case Curve::kDram:
      return fmt::format("{:.0f}%", *value * kPercent);
    case Curve::kMemory:
      return output::format_bytes(*value);
    case Curve::kPower:
      return fmt::format("{:.0f} W", *value);
    case Curve::kTemperature:
      return fmt::format("{:.0f} °C", *value);
    case Curve::kPcie:
    case Curve::kNvlink:
      return output::format_number(*value / kGiga) + " GB/s";
  }
  return {};
}

void put_curve(const Part& part, const Device& device, Curve curve, Area area, int x, int width) {
  Grid& grid = part.screen.grid;
  const bool is_util = curve == Curve::kBusy && value_now(device, curve) &&
                       !number_of(device, MetricId::kGpuSmActive);
  const std::string name(is_util ? "utilization" : curve_name(curve));
  const std::string value = curve_value(device, curve);
  // The name stands above a graph that has the rows for it, else before it.
  const bool is_above = area.height >= 3;
  constexpr int kNames = 14;
  const Style faint{.ink = Ink::kFaint};
  int graph_x = x;
  if (is_above) {
    const int end = grid.put(area.y, x, name, faint, width);
    grid.put(area.y, end + 1, value, {}, x + width - end - 1);
    ++area.y;
    --area.height;
  } else {
    grid.put(area.y, x, name, faint, std::min(kNames, width));
    if (area.height == 2) grid.put(area.y + 1, x, value, {}, std::min(kNames, width));
    graph_x += kNames;
    width -= kNames;
  }
  const std::size_t samples = samples_in(width, part.looks.graph);
  const std::vector<float> values =
      part.history.latest(text_of(device, MetricId::kGpuUuid), curve, samples);
  const Ink ink = curve == Curve::kBusy || curve == Curve::kTensor || curve == Curve::kDram
                      ? Ink::kGood
                      : Ink::kInfo;
  draw_graph(grid, area.y, graph_x, width, area.height, values, part.looks.graph, {.ink = ink});
}

int rows_of_devices(const Part& part) {
  return 1 + static_cast<int>(part.sight.live.snapshot->devices.size());
}

void put_devices(const Part& part, Area area) {
  const readout::Snapshot& snapshot = *part.sight.live.snapshot;
  Grid& grid = part.screen.grid;
  int label_width = 0;
  for (const Device& device : snapshot.devices) {
    label_width = std::max(label_width, output::display_width(label_of(device)));
  }
  const std::vector<Column> columns = columns_for(grid.width(), label_width);
  const bool is_focused = part.ui.focus == Focus::kDevices;
  put_titles(grid, area.y, columns, is_focused);
  const int graphs = graph_rows(snapshot, area.height);
  const auto count = static_cast<int>(snapshot.devices.size());
  part.screen.device_page = std::max(1, area.height - 1);

  // What is selected is in sight.
  const Device* const selected = selected_device(part.sight, part.ui);
  const auto at = selected == nullptr ? 0 : static_cast<int>(selected - snapshot.devices.data());
  int& top = part.ui.device_top;
  const int fits = graphs > 0 ? count : part.screen.device_page;
  top = std::clamp(top, std::max(0, at - fits + 1), std::max(0, at));
  top = std::clamp(top, 0, std::max(0, count - fits));

  int y = area.y + 1;
  const int end = area.y + area.height;
  for (int i = top; i < count && y < end; ++i) {
    const Device& device = snapshot.devices[static_cast<std::size_t>(i)];
    put_row(grid, y, columns, device);
    const int rows = 1 + (device.is_mig ? 0 : graphs);
    for (int k = 0; k < std::min(rows, end - y); ++k) {
      part.screen.hits.push_back({.kind = Hit::Kind::kDevice,
                                  .y = y + k,
                                  .width = grid.width(),
                                  .device = text_of(device, MetricId::kGpuUuid)});
    }
    if (is_focused && &device == selected) grid.set_reverse(y, 0, grid.width());
    if (rows > 1) put_graphs(part, device, {y + 1, std::min(graphs, end - y - 1)});
    y += rows;
  }
  const int hidden = count - top - fits;
  if (hidden > 0 || top > 0) {
    grid.put_right(area.y, grid.width(),
                   fmt::format("{}–{} of {}", top + 1, std::min(count, top + fits), count), 14,
                   {.ink = Ink::kFaint});
  }
}

}  // namespace pyrometer::tui

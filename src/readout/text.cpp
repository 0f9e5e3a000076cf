#include "readout/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "output/display.h"
#include "output/page.h"
#include "readout/device_words.h"
#include "readout/process_rows.h"
#include "readout/time_text.h"

namespace pyrometer::readout {
namespace {

using output::Ink;
using output::Page;
using output::Span;

constexpr double kGib = 1 << 30;
constexpr double kPercent = 100;

std::string in_unit(std::optional<double> number, double scale, int decimals) {
  return number ? fmt::format("{:.{}f}", *number * scale, decimals) : "–";
}

std::string of(const std::string& part, const std::string& whole) {
  return part == "–" && whole == "–" ? part : part + " / " + whole;
}

Span temperature(const Device& device) {
  return {in_unit(number_of(device, MetricId::kGpuTemperature), 1, 0), temperature_ink(device)};
}

Span utilization(const Device& device) {
  const auto share = number_of(device, MetricId::kGpuUtil);
  return {in_unit(share, kPercent, 0), busy_ink(share)};
}

Span memory(const Device& device) {
  const auto used = number_of(device, MetricId::kGpuMemoryUsed);
  const auto total = number_of(device, MetricId::kGpuMemoryTotal);
  return {of(in_unit(used, 1 / kGib, 1), in_unit(total, 1 / kGib, 1)), memory_ink(device)};
}

// Only a look at one column's cell; the table below says which there are.
struct DeviceColumn {
  output::Column column;
  Span (*cell)(const Device& device);
};

std::vector<DeviceColumn> columns_for(const Snapshot& snapshot) {
  using output::Align;
  using output::Shorten;
  std::vector<DeviceColumn> columns = {
      {{"GPU"},
       [](const Device& d) {
         return Span{label_of(d), Ink::kStrong};
       }},
      // Names and states keep their room for as long as other columns can go.
      {{"name", Align::kLeft, Shorten::kSymbol},
       [](const Device& d) {
         const std::string profile = text_of(d, MetricId::kGpuMigProfile);
         const std::string name = text_of(d, MetricId::kGpuName);
         return Span{!profile.empty() ? "MIG " + profile : name.empty() ? "–" : name};
       }},
      {{"temp °C", Align::kRight, Shorten::kNever, 1}, temperature},
      {{"fan %", Align::kRight, Shorten::kNever, 3},
       [](const Device& d) { return Span{in_unit(number_of(d, MetricId::kGpuFan), kPercent, 0)}; }},
      {{"util %"}, utilization},
      {{"memory GiB"}, memory},
      {{"power W", Align::kRight, Shorten::kNever, 2},
       [](const Device& d) {
         return Span{of(in_unit(number_of(d, MetricId::kGpuPower), 1, 0),
                        in_unit(number_of(d, MetricId::kGpuPowerLimit), 1, 0))};
       }},
      {{"SM MHz", Align::kRight, Shorten::kNever, 4},
       [](const Device& d) { return Span{in_unit(number_of(d, MetricId::kGpuClockSm), 1, 0)}; }},
      {{"mem MHz", Align::kRight, Shorten::kNever, 5},
       [](const Device& d) {
         return Span{in_unit(number_of(d, MetricId::kGpuClockMemory), 1, 0)};
       }},
      {{"throttled by", Align::kLeft, Shorten::kSymbol}, condition_of}};
  // Most boards in servers have no fan.
  const bool has_fan = std::ranges::any_of(snapshot.devices, [](const Device& d) {
    return number_of(d, MetricId::kGpuFan).has_value();
  });
  if (!has_fan) {
    std::erase_if(columns, [](const DeviceColumn& c) { return c.column.title == "fan %"; });
  }
  return columns;
}

class DeviceTable {
 public:
  DeviceTable(const Snapshot& snapshot, int width, bool unicode)
      : columns_(columns_for(snapshot)), unicode_(unicode) {
    for (const DeviceColumn& column : columns_) table_.columns.push_back(column.column);
    for (const Device& device : snapshot.devices) {
      std::vector<std::string> cells;
      for (const DeviceColumn& column : columns_) cells.push_back(column.cell(device).text);
      table_.rows.push_back(std::move(cells));
    }
    layout_ = output::lay_out(table_, width, unicode);
  }

  void put_titles(Page& page) const {
    put_row(page, [&](std::size_t i) { return Span{table_.columns[i].title, Ink::kFaint}; });
  }
  void put(Page& page, const Device& device) const {
    put_row(page, [&](std::size_t i) { return columns_[i].cell(device); });
  }
  void put_left_out(Page& page) const {
    std::string names;
    for (std::size_t i = 0; i < table_.columns.size(); ++i) {
      if (std::ranges::count(layout_.columns, i) > 0) continue;
      names += (names.empty() ? "" : ", ") + table_.columns[i].title;
    }
    if (!names.empty()) {
      page.paragraph(0, 0, {{"No room at this width for: " + names + ".", Ink::kFaint}});
    }
  }

 private:
  template <typename CellOf>
  void put_row(Page& page, const CellOf& cell_of) const {
    std::vector<Span> spans;
    for (std::size_t k = 0; k < layout_.columns.size(); ++k) {
      const output::Column& column = table_.columns[layout_.columns[k]];
      Span span = cell_of(layout_.columns[k]);
      span.text = output::fit_cell(span.text, column, layout_.widths[k], unicode_);
      const int room = layout_.widths[k] - output::display_width(span.text);
      const std::string pad(static_cast<std::size_t>(std::max(0, room)), ' ');
      const std::string gap(k == 0 ? 0 : output::kColumnGap, ' ');
      const bool right = column.align == output::Align::kRight;
      spans.push_back({gap + (right ? pad : "")});
      spans.push_back(std::move(span));
      if (!right && k + 1 < layout_.columns.size()) spans.push_back({pad});
    }
    while (!spans.empty() && spans.back().text.find_first_not_of(' ') == std::string::npos) {
      spans.pop_back();
    }
    page.line(spans);
  }

  std::vector<DeviceColumn> columns_;
  output::Table table_;
  output::TableLayout layout_;
  bool unicode_;
};

void put_host_line(Page& page, const Snapshot& snapshot) {
  std::string line = snapshot.host;
  for (const Device& device : snapshot.devices) {
    const std::string driver = text_of(device, MetricId::kGpuDriverVersion);
    const std::string cuda = text_of(device, MetricId::kGpuCudaVersion);
    if (!driver.empty()) line += " · driver " + driver;
    if (!cuda.empty()) line += " · CUDA " + cuda;
    if (!driver.empty()) break;
  }
  page.paragraph(0, 0, {{line + " · " + local_text(snapshot.unix_ms), Ink::kFaint}});
}

// Reasons with the names that they stand for: "fan, power: not supported".
class Reasons {
 public:
  void add(std::string_view name, const Value& value) {
    if (!value.is_missing()) return;
    const std::string reason = value.reason();
    for (auto& [known, names] : reasons_) {
      if (known == reason) {
        names.append(", ").append(name);
        return;
      }
    }
    reasons_.emplace_back(reason, std::string(name));
  }
  void put(Page& page, const std::string& who) const {
    for (const auto& [reason, names] : reasons_) {
      page.paragraph(2, 4, {{who + ": " + names + ": " + reason}});
    }
  }

 private:
  std::vector<std::pair<std::string, std::string>> reasons_;
};

void put_reasons(Page& page, const Snapshot& snapshot) {
  constexpr std::pair<std::string_view, MetricId> kShown[] = {
      {"name", MetricId::kGpuName},
      {"temperature", MetricId::kGpuTemperature},
      {"fan", MetricId::kGpuFan},
      {"utilization", MetricId::kGpuUtil},
      {"memory used", MetricId::kGpuMemoryUsed},
      {"memory total", MetricId::kGpuMemoryTotal},
      {"power", MetricId::kGpuPower},
      {"power limit", MetricId::kGpuPowerLimit},
      {"SM clock", MetricId::kGpuClockSm},
      {"memory clock", MetricId::kGpuClockMemory},
      {"throttle reasons", MetricId::kGpuThrottleMask},
      {"processes", MetricId::kGpuProcesses}};
  Page notes({.unicode = page.unicode(), .width = page.width()});
  for (const Device& device : snapshot.devices) {
    const std::string who = "GPU " + label_of(device);
    Reasons reasons;
    for (const auto& [name, metric] : kShown) reasons.add(name, value_of(device, metric));
    reasons.put(notes, who);
    for (const Process& process : device.processes) {
      Reasons of_process;
      for (const auto& [name, value] : shown_values(process)) of_process.add(name, *value);
      of_process.put(notes, who + ", process " + std::to_string(process.pid));
    }
  }
  const std::string text = notes.take();
  if (text.empty()) return;
  page.heading("Not measured");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    page.line({{text.substr(begin, end - begin)}});
    begin = end + 1;
  }
}

}  // namespace

std::string problem_text(const base::Error& problem) {
  std::string text = "no GPU can be read: " + problem.message;
  if (!problem.advice.empty()) text += ". " + problem.advice + ".";
  return text;
}

std::string snapshot_text(const Snapshot& snapshot, const output::TextStyle& style) {
  Page page(style);
  put_host_line(page, snapshot);
  if (snapshot.problem) {
    std::string text = problem_text(*snapshot.problem);
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    page.paragraph(0, 0, {{text}});
    return page.take();
  }
  const DeviceTable table(snapshot, page.width(), style.unicode);
  const ProcessRows processes(snapshot, page.width(), style.unicode);
  table.put_titles(page);
  if (!processes.empty()) processes.put_titles(page);
  for (const Device& device : snapshot.devices) {
    table.put(page, device);
    processes.put(page, device);
  }
  table.put_left_out(page);
  if (style.verbose) put_reasons(page, snapshot);
  return page.take();
}

}  // namespace pyrometer::readout

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "output/display.h"
#include "output/units.h"
#include "readout/device_words.h"
#include "tui/parts.h"

namespace pyrometer::tui {
namespace {

using readout::Device;

std::string metric_name(std::string_view id) {
  std::string name(id.substr(id.find('.') + 1));
  std::ranges::replace(name, '_', ' ');
  std::ranges::replace(name, '.', ' ');
  return name;
}

std::string metric_text(const readout::Value& value, std::string_view unit) {
  if (value.text() != nullptr) return *value.text();
  const double number = *value.number();
  constexpr double kGiga = 1e9;
  if (unit == "bytes/s") return output::format_number(number / kGiga) + " GB/s";
  if (unit == "C") return output::format_number(number) + " °C";
  if (unit == "mask") return fmt::format("0x{:x}", static_cast<std::uint64_t>(number));
  return output::format_quantity(number, unit);
}

// What is known first, then what is not, with the reasons.
std::vector<TextRow> metric_rows(const Device& device) {
  std::vector<TextRow> rows;
  std::vector<TextRow> missing;
  for (std::size_t i = 0; i < sources::kMetricCount; ++i) {
    const auto metric = static_cast<MetricId>(i);
    const sources::MetricInfo& info = sources::metric_info(metric);
    if (info.scope != sources::Scope::kDevice) continue;
    const readout::Value& value = value_of(device, metric);
    if (value.is_missing()) {
      missing.push_back(
          {.label = metric_name(info.id), .text = value.reason(), .style = {.ink = Ink::kFaint}});
    } else {
      rows.push_back({.label = metric_name(info.id), .text = metric_text(value, info.unit)});
    }
  }
  std::ranges::move(missing, std::back_inserter(rows));
  return rows;
}

void put_title(const Part& part, const Device& device, int y) {
  Grid& grid = part.screen.grid;
  int x = grid.put(y, 0, "GPU " + label_of(device), {.ink = Ink::kStrong}) + 2;
  const std::string profile = text_of(device, MetricId::kGpuMigProfile);
  x = grid.put(y, x, profile.empty() ? text_of(device, MetricId::kGpuName) : "MIG " + profile) + 2;
  const double xid = number_of(device, MetricId::kGpuXid).value_or(0);
  if (xid > 0) {
    x = grid.put(y, x, fmt::format("Xid {:.0f}", xid), {.ink = Ink::kBad, .bold = true}) + 2;
  }
  const output::Span state = readout::condition_of(device);
  x = grid.put(y, x, state.text, {.ink = state.ink}) + 2;
  const std::string uuid = text_of(device, MetricId::kGpuUuid);
  if (x + output::display_width(uuid) <= grid.width()) {
    grid.put(y, x, uuid, {.ink = Ink::kFaint});
  }
}

constexpr int kGap = 2;

// As many graphs as are readable, two rows of them at most. Returns the rows taken.
int put_graphs(const Part& part, const Device& device, Area area) {
  if (device.is_mig || area.height < 12) return 0;
  constexpr int kNarrowest = 36;
  const int columns = std::clamp(part.screen.grid.width() / (kNarrowest + kGap), 1, 4);
  const int rows = area.height >= 24 ? 2 : 1;
  const int height = std::clamp(area.height * 2 / 5 / rows, 4, 12);
  const int each = (part.screen.grid.width() - (columns - 1) * kGap) / columns;
  for (int i = 0; i < rows * columns && i < static_cast<int>(kCurves); ++i) {
    const auto curve =
        static_cast<Curve>(static_cast<std::size_t>(part.ui.first_curve + i) % kCurves);
    put_curve(part, device, curve, {area.y + i / columns * height, height - 1},
              i % columns * (each + kGap), each);
  }
  return rows * height;
}

}  // namespace

std::vector<TextRow> wrap_rows(const std::vector<TextRow>& rows, int label_width, int width,
                               bool unicode) {
  std::vector<TextRow> out;
  const int room = std::max(8, width - label_width);
  for (const TextRow& row : rows) {
    const std::string clean = output::printable(row.text, unicode);
    std::string_view rest = clean;
    bool is_first = true;
    do {
      std::string_view taken = output::front_part(rest, room);
      // At a space, where there is one.
      if (taken.size() < rest.size() && rest[taken.size()] != ' ') {
        const std::size_t space = taken.rfind(' ');
        if (space != std::string_view::npos && space > 0) taken = taken.substr(0, space);
      }
      rest.remove_prefix(taken.size());
      while (rest.starts_with(' ')) rest.remove_prefix(1);
      out.push_back(
          {.label = is_first ? row.label : "", .text = std::string(taken), .style = row.style});
      is_first = false;
    } while (!rest.empty());
  }
  return out;
}

void put_device_detail(const Part& part, Area area) {
  const Device* const device = selected_device(part.sight, part.ui);
  if (device == nullptr) return;
  put_title(part, *device, area.y);
  area = {area.y + 1, area.height - 1};
  const int taken = put_graphs(part, *device, area);
  area = {area.y + taken, area.height - taken};

  // Metrics in columns, each read downwards.
  Grid& grid = part.screen.grid;
  constexpr int kColumn = 66;
  constexpr int kLabel = 25;
  const int columns = std::max(1, (grid.width() + kGap) / (kColumn + kGap));
  const int each = (grid.width() - (columns - 1) * kGap) / columns;
  const std::vector<TextRow> rows = wrap_rows(metric_rows(*device), kLabel, each, grid.unicode());
  const auto count = static_cast<int>(rows.size());
  const int lines = (count + columns - 1) / columns;
  part.screen.text_rows = lines;
  part.screen.text_page = std::max(1, area.height);
  part.screen.text_at = area.y;
  part.ui.text_top = std::clamp(part.ui.text_top, 0, std::max(0, lines - area.height));
  for (int i = 0; i < count; ++i) {
    const int line = i % lines - part.ui.text_top;
    if (line < 0 || line >= area.height) continue;
    const TextRow& row = rows[static_cast<std::size_t>(i)];
    const int x = i / lines * (each + kGap);
    grid.put(area.y + line, x, row.label, {.ink = Ink::kInfo}, kLabel - 1);
    grid.put(area.y + line, x + kLabel, row.text, row.style, each - kLabel);
  }
}

}  // namespace pyrometer::tui

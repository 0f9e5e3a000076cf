#include "tui/screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "tui/parts.h"

namespace pyrometer::tui {
namespace {

constexpr int kNarrowest = 40;
constexpr int kLowest = 8;

void put_too_small(Grid& grid) {
  const std::string full =
      fmt::format("The window is too small: {}x{} at least.", kNarrowest, kLowest);
  const bool has_room = grid.width() >= static_cast<int>(full.size());
  const std::string text = has_room ? full : "too small";
  const int room = static_cast<int>(text.size());
  grid.put(grid.height() / 2, std::max(0, (grid.width() - room) / 2), text, {.ink = Ink::kWarn});
}

// Rows for GPUs, of `height`: processes keep at least a few. Graphs of all GPUs are equally high.
int share_of_devices(int needed, int height, int whole_gpus, std::size_t processes) {
  constexpr int kFew = 4;  // rows of processes, their title included
  const int kept = std::clamp(static_cast<int>(std::min<std::size_t>(processes, 1000)) + 1, kFew,
                              std::max(kFew, height / 3));
  const int most = std::max(2, height - kept - 1);
  if (needed >= most || whole_gpus == 0) return std::min(needed, most);
  return needed + whole_gpus * std::min(kHighestGraph, (most - needed) / whole_gpus);
}

void put_overview(const Part& part, Area area) {
  const readout::Snapshot& snapshot = *part.sight.live.snapshot;
  const auto whole_gpus =
      static_cast<int>(std::ranges::count(snapshot.devices, false, &readout::Device::is_mig));
  const int devices = share_of_devices(rows_of_devices(part), area.height, whole_gpus,
                                       part.screen.processes.size());
  put_devices(part, {area.y, devices});
  const int below = area.y + devices + 1;
  if (below < area.y + area.height) {
    put_processes(part, {below, area.y + area.height - below});
  }
}

}  // namespace

const readout::Device* selected_device(const Sight& sight, const Ui& ui) {
  const std::vector<readout::Device>& devices = sight.live.snapshot->devices;
  for (const readout::Device& device : devices) {
    if (text_of(device, MetricId::kGpuUuid) == ui.device) return &device;
  }
  return devices.empty() ? nullptr : &devices.front();
}

std::string age_text(std::int64_t ns) {
  constexpr double kNsPerSecond = 1e9;
  constexpr double kMinute = 60;
  constexpr double kHour = 3600;
  const double seconds = std::max(0.0, static_cast<double>(ns) / kNsPerSecond);
  if (seconds < 2 * kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < 2 * kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.0f} h", seconds / kHour);
}

Screen compose(const Sight& sight, Ui& ui, const History& history, const Looks& looks, int width,
               int height) {
  Screen screen{.grid = Grid(width, height, looks.unicode)};
  if (width < kNarrowest || height < kLowest) {
    put_too_small(screen.grid);
    return screen;
  }
  for (const readout::Device& device : sight.live.snapshot->devices) {
    screen.devices.push_back(text_of(device, MetricId::kGpuUuid));
  }
  screen.processes = list_processes(sight, ui);
  const Part part{sight, ui, history, looks, screen};
  put_header(part, 0);
  put_message(part, 1);
  put_keys(part, height - 1);
  const Area area{2, height - 3};
  if (ui.view == View::kHelp) {
    put_help(part, area);
  } else if (sight.live.snapshot->devices.empty()) {
    put_problem(part, area);
  } else if (ui.view == View::kDevice) {
    put_device_detail(part, area);
  } else if (ui.view == View::kProcesses) {
    put_processes(part, area);
  } else {
    put_overview(part, area);
  }
  if (ui.overlay == Overlay::kWhy) put_why(part);
  if (ui.overlay == Overlay::kSignal || ui.overlay == Overlay::kConfirm) put_signal_menu(part);
  return screen;
}

}  // namespace pyrometer::tui

// What stands around the views: the first and the last rows.
#include <fmt/format.h>

#include <algorithm>

#include "output/display.h"
#include "readout/time_text.h"
#include "tui/parts.h"

namespace pyrometer::tui {
namespace {

using sources::EventKind;
using sources::SourceState;

constexpr std::int64_t kMsPerSecond = 1000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

struct Word {
  std::string text;
  Style style{};
};

// The worst that a source is doing.
Word state_of(const Sight& sight, const Ui& ui) {
  if (ui.is_paused) return {"paused", {.ink = Ink::kWarn, .bold = true}};
  for (const readout::LiveSource& source : sight.live.sources) {
    const std::string age =
        source.last_good_ns > 0 ? age_text(sight.now_ns - source.last_good_ns) : "";
    if (source.state == SourceState::kStale) {
      const std::string old = age.empty() ? "" : ": values are " + age + " old";
      return {source.name + " hangs" + old, {.ink = Ink::kBad, .bold = true}};
    }
    if (source.state == SourceState::kFailed) {
      return {source.name + " does not work, trying again", {.ink = Ink::kBad, .bold = true}};
    }
    const std::int64_t late = sight.now_ns - source.last_good_ns - sight.interval_ns;
    if (source.last_good_ns > 0 && late > 2 * kNsPerSecond) {
      return {"values are " + age + " old", {.ink = Ink::kBad, .bold = true}};
    }
  }
  if (sight.live.number == 0) return {"starting", {.ink = Ink::kFaint}};
  return {"live", {.ink = Ink::kGood}};
}

std::string driver_of(const readout::Snapshot& snapshot) {
  for (const readout::Device& device : snapshot.devices) {
    const std::string driver = text_of(device, MetricId::kGpuDriverVersion);
    if (driver.empty()) continue;
    const std::string cuda = text_of(device, MetricId::kGpuCudaVersion);
    return "driver " + driver + (cuda.empty() ? "" : ", CUDA " + cuda);
  }
  return {};
}

// What all GPUs draw together.
std::string power_of(const readout::Snapshot& snapshot) {
  double watts = 0;
  for (const readout::Device& device : snapshot.devices) {
    if (!device.is_mig) watts += number_of(device, MetricId::kGpuPower).value_or(0);
  }
  if (watts <= 0) return {};
  constexpr double kKilo = 1000;
  return watts < kKilo ? fmt::format("{:.0f} W", watts) : fmt::format("{:.2f} kW", watts / kKilo);
}

// Events that a person wants to hear of.
bool is_news(const readout::LiveEvent& event) {
  return event.kind == EventKind::kXid || event.kind == EventKind::kDeviceLost ||
         event.kind == EventKind::kDeviceBack || event.kind == EventKind::kSourceBack;
}

std::string label_of_uuid(const readout::Snapshot& snapshot, const std::string& uuid) {
  for (const readout::Device& device : snapshot.devices) {
    if (!uuid.empty() && text_of(device, MetricId::kGpuUuid) == uuid) {
      return "GPU " + label_of(device);
    }
  }
  return uuid;
}

std::string event_text(const readout::LiveEvent& event, const readout::Snapshot& snapshot) {
  constexpr std::size_t kDate = 11;  // "2026-12-01 "
  std::string text = readout::local_text(event.unix_ms).substr(kDate);
  const std::string who = label_of_uuid(snapshot, event.device_uuid);
  text += ' ' + (who.empty() ? event.source : who) + ": ";
  switch (event.kind) {
    case EventKind::kXid:
      if (event.text.starts_with("Xid")) return text + event.text;  // with its number
      text += "Xid " + std::to_string(event.code);
      break;
    case EventKind::kDeviceLost:
      text += "lost";
      break;
    default:
      text += "back";
      break;
  }
  if (!event.text.empty() && event.text != event.device_uuid) text += ", " + event.text;
  return text;
}

bool lacks_counters(const readout::Snapshot& snapshot) {
  return std::ranges::any_of(snapshot.devices, [](const readout::Device& device) {
    return !number_of(device, MetricId::kGpuSmActive) && value_now(device, Curve::kBusy);
  });
}

}  // namespace

void put_header(const Part& part, int y) {
  Grid& grid = part.screen.grid;
  const readout::Snapshot& snapshot = *part.sight.live.snapshot;
  const Word state = state_of(part.sight, part.ui);
  const int room = output::display_width(output::printable(state.text, grid.unicode()));
  const int end = grid.width() - room - 2;
  const std::string count =
      snapshot.devices.empty()
          ? ""
          : fmt::format("{} GPU{}",
                        std::ranges::count(snapshot.devices, false, &readout::Device::is_mig),
                        snapshot.devices.size() == 1 ? "" : "s");
  int x = 0;
  const auto put = [&](const std::string& text, Style style) {
    if (text.empty()) return;
    const std::string part_text = (x > 0 ? "  " : "") + text;
    const int width = output::display_width(output::printable(part_text, grid.unicode()));
    if (x + width > end && x > 0) return;  // whole or not at all
    x = grid.put(y, x, part_text, style, end - x);
  };
  put(snapshot.host.empty() ? "pyrometer top" : snapshot.host, {.ink = Ink::kStrong});
  put(readout::local_text(snapshot.unix_ms), {});
  put(count, {});
  put(power_of(snapshot), {});
  put(driver_of(snapshot), {.ink = Ink::kFaint});
  grid.put(y, std::max(0, grid.width() - room), state.text, state.style);
}

void put_message(const Part& part, int y) {
  Grid& grid = part.screen.grid;
  if (!part.ui.message.empty()) {
    grid.put_short(y, 0, part.ui.message, grid.width(), {.ink = part.ui.message_ink});
    return;
  }
  constexpr std::int64_t kNews = 300 * kMsPerSecond;
  const readout::LiveView& live = part.sight.live;
  for (auto event = live.events.rbegin(); event != live.events.rend(); ++event) {
    if (live.snapshot->unix_ms - event->unix_ms > kNews) break;
    if (!is_news(*event)) continue;
    const bool is_bad = event->kind == EventKind::kXid || event->kind == EventKind::kDeviceLost;
    grid.put_short(y, 0, event_text(*event, *live.snapshot), grid.width(),
                   {.ink = is_bad ? Ink::kBad : Ink::kGood});
    return;
  }
  if (lacks_counters(*live.snapshot)) {
    grid.put_short(y, 0, "* utilization: SM active is not measured there (w: why)", grid.width(),
                   {.ink = Ink::kFaint});
  }
}

void put_keys(const Part& part, int y) {
  Grid& grid = part.screen.grid;
  const Ui& ui = part.ui;
  if (ui.is_filtering) {
    const int x = grid.put(y, 0, "filter: ", {.ink = Ink::kStrong});
    const int end = grid.put(y, x, ui.filter, {}, grid.width() - x - 1);
    grid.fill(y, end, 1, U' ', {.reverse = true});
    grid.put_right(y, grid.width(), "  Enter keep  Esc clear", grid.width() - end - 2,
                   {.ink = Ink::kFaint});
    return;
  }
  struct Key {
    std::string_view key;
    std::string_view what;
  };
  std::vector<Key> keys;
  switch (ui.view) {
    case View::kOverview:
      keys = {{"q", "quit"},       {"?", "help"},      {"Tab", "GPUs/processes"},
              {"Enter", "detail"}, {"/", "filter"},    {"s", "sort"},
              {"t", "tree"},       {"x", "signal"},    {"m", "graphs"},
              {"w", "why"},        {"p", "processes"}, {"Space", "pause"}};
      break;
    case View::kDevice:
      keys = {{"Esc", "back"}, {"n N", "next GPU"}, {"j k", "scroll"}, {"m", "graphs"},
              {"w", "why"},    {"Space", "pause"},  {"?", "help"},     {"q", "quit"}};
      break;
    case View::kProcesses:
      keys = {{"Esc", "back"}, {"/", "filter"},    {"s", "sort"}, {"r", "reverse"}, {"t", "tree"},
              {"x", "signal"}, {"Space", "pause"}, {"?", "help"}, {"q", "quit"}};
      break;
    case View::kHelp:
      keys = {{"Esc", "back"}, {"j k", "scroll"}, {"q", "quit"}};
      break;
  }
  int x = 0;
  for (const Key& key : keys) {
    const int width = output::display_width(key.key) + 1 + output::display_width(key.what);
    if (x + width > grid.width()) break;
    x = grid.put(y, x, key.key, {.ink = Ink::kInfo, .bold = true});
    x = grid.put(y, x + 1, key.what, {.ink = Ink::kFaint}) + 2;
  }
}

}  // namespace pyrometer::tui

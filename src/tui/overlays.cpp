// What stands over a view for a while: reasons, the choice of a signal, help.
#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "output/display.h"
#include "readout/text.h"
#include "tui/parts.h"

namespace pyrometer::tui {
namespace {

using readout::Device;

// A frame in the middle; returns the area inside it.
struct Box {
  int y;
  int x;
  int width;
  int height;
};

Box put_box(Grid& grid, int width, int height, std::string_view title) {
  Box box{.width = std::clamp(width, 0, std::max(0, grid.width() - 2)),
          .height = std::clamp(height, 0, std::max(0, grid.height() - 2))};
  box.y = (grid.height() - box.height) / 2;
  box.x = (grid.width() - box.width) / 2;
  const bool u = grid.unicode();
  const Style frame{.ink = Ink::kInfo};
  for (int y = -1; y <= box.height; ++y) {
    const bool is_edge = y < 0 || y == box.height;
    const char32_t side = u ? U'│' : U'|';
    const char32_t level = u ? U'─' : U'-';
    grid.fill(box.y + y, box.x, box.width, is_edge ? level : U' ', is_edge ? frame : Style{});
    grid.fill(box.y + y, box.x - 1, 1, is_edge ? (u ? (y < 0 ? U'┌' : U'└') : U'+') : side, frame);
    grid.fill(box.y + y, box.x + box.width, 1, is_edge ? (u ? (y < 0 ? U'┐' : U'┘') : U'+') : side,
              frame);
  }
  grid.put(box.y - 1, box.x + 1, " " + std::string(title) + " ", {.ink = Ink::kStrong},
           std::max(0, box.width - 2));
  return box;
}

// Why values that the overview shows are missing.
std::vector<TextRow> reasons_of(const Device& device) {
  struct Asked {
    MetricId metric;
    std::string_view name;
  };
  constexpr Asked kAsked[] = {{MetricId::kGpuSmActive, "SM active"},
                              {MetricId::kGpuTensorActive, "tensor active"},
                              {MetricId::kGpuSmOccupancy, "occupancy"},
                              {MetricId::kGpuDramActive, "DRAM active"},
                              {MetricId::kGpuUtil, "utilization"},
                              {MetricId::kGpuMemoryUsed, "memory used"},
                              {MetricId::kGpuMemoryTotal, "memory"},
                              {MetricId::kGpuPower, "power"},
                              {MetricId::kGpuPowerLimit, "power limit"},
                              {MetricId::kGpuTemperature, "temperature"},
                              {MetricId::kGpuClockSm, "SM clock"},
                              {MetricId::kGpuPcieRx, "PCIe traffic"},
                              {MetricId::kGpuNvlinkRx, "NVLink traffic"},
                              {MetricId::kGpuThrottleMask, "throttle reasons"},
                              {MetricId::kGpuXid, "Xid"}};
  std::vector<TextRow> rows;
  for (const Asked& asked : kAsked) {
    const readout::Value& value = value_of(device, asked.metric);
    if (value.is_missing()) {
      rows.push_back({.label = std::string(asked.name), .text = value.reason()});
    }
  }
  return rows;
}

std::vector<TextRow> process_reasons(const Part& part) {
  std::vector<TextRow> rows;
  const auto found = std::ranges::find(part.screen.processes, part.ui.process, &ProcessRow::id);
  const ProcessRow* row = found != part.screen.processes.end() ? &*found
                          : part.screen.processes.empty()      ? nullptr
                                                               : &part.screen.processes.front();
  if (row == nullptr || row->process == nullptr) return rows;
  const auto ask = [&](std::string_view name, const readout::Value& value) {
    if (value.is_missing()) rows.push_back({.label = std::string(name), .text = value.reason()});
  };
  ask("user", row->process->owner.user);
  ask("program", row->process->owner.program);
  ask("arguments", row->process->owner.arguments);
  ask("GPU memory", row->process->memory);
  ask("SM share", row->process->util);
  ask("container", row->process->owner.container);
  ask("Slurm job", row->process->owner.slurm_job);
  if (row->host == nullptr) {
    rows.push_back({.label = "CPU, memory",
                    .text = part.sight.same_namespace
                                ? "/proc does not show the process"
                                : "the id is that of the host, which /proc does not show here"});
  } else {
    ask("CPU", row->host->usage.cpu);
    ask("host memory", row->host->usage.resident);
    ask("time", row->host->usage.running);
  }
  if (row->training == nullptr) {
    rows.push_back({.label = "training",
                    .text = "not recorded: pyrometer run -- COMMAND would show its steps here"});
  }
  return rows;
}

}  // namespace

void put_why(const Part& part) {
  Grid& grid = part.screen.grid;
  std::string title;
  std::vector<TextRow> rows;
  if (part.ui.view != View::kDevice &&
      (part.ui.view == View::kProcesses || part.ui.focus == Focus::kProcesses)) {
    title = "why values of the process are missing";
    rows = process_reasons(part);
  } else if (const Device* device = selected_device(part.sight, part.ui); device != nullptr) {
    title = "why values of GPU " + label_of(*device) + " are missing";
    rows = reasons_of(*device);
  }
  if (rows.empty()) rows.push_back({.label = "", .text = "Nothing is missing."});
  constexpr int kLabel = 18;
  constexpr int kWidest = 90;
  const int width = std::min(kWidest, grid.width() - 4);
  rows = wrap_rows(rows, kLabel, width - 2, grid.unicode());
  const auto count = static_cast<int>(rows.size());
  const Box box = put_box(grid, width, std::min(count, grid.height() - 4), title);
  part.screen.text_rows = count;
  part.screen.text_page = std::max(1, box.height);
  part.ui.text_top = std::clamp(part.ui.text_top, 0, std::max(0, count - box.height));
  for (int i = 0; i < box.height && i + part.ui.text_top < count; ++i) {
    const TextRow& row = rows[static_cast<std::size_t>(i + part.ui.text_top)];
    grid.put(box.y + i, box.x + 1, row.label, {.ink = Ink::kInfo}, std::min(kLabel, box.width));
    grid.put(box.y + i, box.x + 1 + kLabel, row.text, {}, box.width - kLabel - 1);
  }
}

const std::vector<SignalChoice>& signal_choices() {
  static const std::vector<SignalChoice> kChoices = {
      {SIGTERM, "SIGTERM", "asks it to end"},
      {SIGINT, "SIGINT", "as Ctrl-C does"},
      {SIGKILL, "SIGKILL", "ends it at once, nothing is saved"},
      {SIGUSR1, "SIGUSR1", "what it means is up to the program"},
      {SIGUSR2, "SIGUSR2", "what it means is up to the program"},
      {SIGSTOP, "SIGSTOP", "holds it"},
      {SIGCONT, "SIGCONT", "lets it go on"},
  };
  return kChoices;
}

void put_signal_menu(const Part& part) {
  Grid& grid = part.screen.grid;
  const Ui& ui = part.ui;
  const std::vector<SignalChoice>& choices = signal_choices();
  const std::string who = fmt::format("{} ({})", ui.target.pid, ui.target_name);
  constexpr int kWidth = 56;
  if (ui.overlay == Overlay::kConfirm) {
    const SignalChoice& choice = choices[static_cast<std::size_t>(ui.signal_choice)];
    const Box box = put_box(grid, kWidth, 2, "are you sure?");
    grid.put_short(box.y, box.x + 1, fmt::format("Send {} to {}?", choice.name, who),
                   box.width - 2);
    grid.put(box.y + 1, box.x + 1, "y  yes    any other key  no", {.ink = Ink::kFaint},
             box.width - 2);
    return;
  }
  const Box box = put_box(grid, kWidth, static_cast<int>(choices.size()) + 1, "signal to " + who);
  for (int i = 0; i < static_cast<int>(choices.size()) && i < box.height; ++i) {
    const SignalChoice& choice = choices[static_cast<std::size_t>(i)];
    const int x = grid.put(box.y + i, box.x + 1, fmt::format("{}  {:<9}", i + 1, choice.name), {},
                           box.width - 2);
    grid.put(box.y + i, x + 1, choice.what, {.ink = Ink::kFaint}, box.x + box.width - x - 2);
    if (i == ui.signal_choice) grid.set_reverse(box.y + i, box.x, box.width);
  }
  grid.put(box.y + box.height - 1, box.x + 1, "Enter choose  Esc leave", {.ink = Ink::kFaint},
           box.width - 2);
}

void put_problem(const Part& part, Area area) {
  Grid& grid = part.screen.grid;
  const readout::Snapshot& snapshot = *part.sight.live.snapshot;
  std::string text = "Looking for GPUs …";
  if (snapshot.problem) {
    text = readout::problem_text(*snapshot.problem);
    if (!text.empty())
      text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    if (!text.ends_with('.')) text += '.';
  } else if (part.sight.live.number > 0) {
    text = "No GPU is there.";
  }
  constexpr int kWidest = 76;
  const int width = std::min(kWidest, grid.width() - 4);
  std::vector<TextRow> rows = wrap_rows({{.label = "", .text = text}}, 0, width, grid.unicode());
  if (part.sight.live.number > 0) {
    rows.push_back({});
    rows.push_back(
        {.label = "", .text = "Pyrometer goes on looking.", .style = {.ink = Ink::kFaint}});
  }
  const int x = (grid.width() - width) / 2;
  int y = area.y + std::max(0, (area.height - static_cast<int>(rows.size())) / 2);
  for (const TextRow& row : rows) {
    if (y >= area.y + area.height) break;
    grid.put(y++, x, row.text, row.style, width);
  }
}

void put_help(const Part& part, Area area) {
  Grid& grid = part.screen.grid;
  const Style head{.ink = Ink::kStrong};
  std::vector<TextRow> rows = {
      {"", "Keys", head},
      {"q, Ctrl-C", "quit"},
      {"Tab", "go between GPUs and processes"},
      {"arrows, h j k l", "move, scroll; PgUp, PgDn, Home g, End G go further"},
      {"Enter", "one GPU in detail: every metric, or the reason why it is missing"},
      {"n, N", "the next GPU, the one before"},
      {"p", "processes on the whole screen"},
      {"/", "filter processes by user, program, pid, job or container; Esc clears it"},
      {"s, S", "sort by the next column, by the one before; < and > likewise"},
      {"r", "the other way round"},
      {"t", "tree: who started whom"},
      {"x, F9", "send a signal to the selected process, after a question"},
      {"m, M", "show other graphs"},
      {"w", "why values are missing"},
      {"Space", "hold the screen, and let it go on"},
      {"Ctrl-L", "draw everything anew"},
      {"mouse", "click selects, again opens; on a title it sorts; the wheel scrolls"},
      {"", ""},
      {"", "Columns", head},
      {"SM %",
       "share of SM time with at least one warp resident. Where the GPU has no such counter: "
       "utilization, marked *, which says only that some kernel ran"},
      {"tensor %", "share of SM time in which a tensor pipe was active"},
      {"occ. %", "occupancy: resident warps over the most that the SMs can hold"},
      {"DRAM %", "memory bandwidth used, of the most possible"},
      {"memory GiB", "used by processes / all"},
      {"power W", "now / limit that is enforced"},
      {"SM MHz", "now / highest"},
      {"PCIe, NVLink", "to the GPU / from the GPU, GB/s"},
      {"state", "last Xid error; lost, asleep; what holds the clocks down"},
      {"", ""},
      {"", "Processes that pyrometer run records", head},
      {"",
       "A second row shows their latest steps: time, samples per second, and where the GPU's time "
       "goes. On the whole screen (p) a third row names the first finding."},
  };
  constexpr int kLabel = 18;
  constexpr int kWidest = 100;
  rows = wrap_rows(rows, kLabel, std::min(kWidest, grid.width() - 1), grid.unicode());
  const auto count = static_cast<int>(rows.size());
  part.screen.text_rows = count;
  part.screen.text_page = std::max(1, area.height);
  part.screen.text_at = area.y;
  part.ui.text_top = std::clamp(part.ui.text_top, 0, std::max(0, count - area.height));
  for (int i = 0; i < area.height && i + part.ui.text_top < count; ++i) {
    const TextRow& row = rows[static_cast<std::size_t>(i + part.ui.text_top)];
    grid.put(area.y + i, 0, row.label, {.ink = Ink::kInfo}, kLabel - 1);
    const bool is_head = row.style == head;
    grid.put(area.y + i, is_head ? 0 : kLabel, row.text, row.style);
  }
}

}  // namespace pyrometer::tui

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "output/bars.h"
#include "output/display.h"
#include "output/units.h"
#include "tui/parts.h"

namespace pyrometer::tui {
namespace {

constexpr int kGap = 1;
constexpr int kMostPlace = 24;
constexpr double kPercent = 100;

struct Column {
  std::optional<SortKey> key;  // nothing: cannot be sorted by
  std::string_view title;
  int width;
  int rank;  // the highest goes first where room is short; 0 stays
  bool is_left;
  std::string (*cell)(const ProcessRow& row);
};

std::string or_dash(std::string text) { return text.empty() ? "–" : text; }

std::string percent(std::optional<double> share) {
  return share ? fmt::format("{:.0f}", *share * kPercent) : "–";
}

std::string bytes(std::optional<double> size) {
  return size ? output::format_bytes(*size) : std::string("–");
}

std::vector<Column> columns_for(int width, const std::vector<ProcessRow>& rows) {
  const bool has_places =
      std::ranges::any_of(rows, [](const ProcessRow& row) { return !place_of(row).empty(); });
  std::vector<Column> columns = {
      {SortKey::kGpu, "GPU", 5, 0, true, [](const ProcessRow& row) { return row.gpu; }},
      {SortKey::kPid, "pid", 7, 0, false,
       [](const ProcessRow& row) { return std::to_string(row.id.pid); }},
      {SortKey::kUser, "user", 9, 2, true,
       [](const ProcessRow& row) { return or_dash(user_of(row)); }},
      {SortKey::kMemory, "GPU mem", 9, 0, false,
       [](const ProcessRow& row) {
         return row.process == nullptr ? std::string() : bytes(gpu_memory_of(row));
       }},
      {SortKey::kSm, "SM %", 5, 4, false,
       [](const ProcessRow& row) {
         return row.process == nullptr ? std::string() : percent(sm_share_of(row));
       }},
      {SortKey::kCpu, "CPU %", 6, 3, false,
       [](const ProcessRow& row) { return percent(cpu_share_of(row)); }},
      {SortKey::kHostMemory, "host mem", 9, 5, false,
       [](const ProcessRow& row) { return bytes(host_memory_of(row)); }},
      {SortKey::kTime, "time", 9, 6, false, [](const ProcessRow& row) {
         const auto seconds = running_of(row);
         return seconds ? running_text(*seconds) : std::string("–");
       }}};
  if (has_places) {
    columns.push_back({std::nullopt, "job, pod", kMostPlace, 7, true, place_of});
  }
  constexpr int kProgram = 16;
  const auto taken = [&] {
    int sum = kProgram;
    for (const Column& column : columns) sum += column.width + kGap;
    return sum;
  };
  while (taken() > width) {
    const auto last = std::ranges::max_element(columns, {}, &Column::rank);
    if (last->rank == 0) break;
    columns.erase(last);
  }
  return columns;
}

// A row of the table takes these lines of the screen.
int lines_of(const ProcessRow& row, bool is_full) {
  if (row.training == nullptr) return 1;
  return is_full && !row.training->finding.empty() ? 3 : 2;
}

Ink ink_of(model::CauseGroup group) {
  switch (group) {
    case model::CauseGroup::kCompute:
      return Ink::kGood;
    case model::CauseGroup::kComm:
    case model::CauseGroup::kCopy:
      return Ink::kInfo;
    case model::CauseGroup::kIdle:
      return Ink::kWarn;
    case model::CauseGroup::kUnattributed:
      break;
  }
  return Ink::kFaint;
}

Ink ink_of(model::Severity severity) {
  return severity == model::Severity::kCritical  ? Ink::kBad
         : severity == model::Severity::kWarning ? Ink::kWarn
                                                 : Ink::kInfo;
}

// One bar of all causes: '=' busy, '.' idle where there are no blocks.
int put_causes_bar(Grid& grid, int y, int x, int width, const readout::Training& training) {
  double sum = 0;
  int at = 0;
  for (const readout::Training::Share& share : training.shares) {
    sum += share.share;
    const int end = std::min(width, static_cast<int>(std::lround(sum * width)));
    const bool is_busy =
        share.group != model::CauseGroup::kIdle && share.group != model::CauseGroup::kUnattributed;
    const char32_t letter = grid.unicode() ? (is_busy ? U'█' : U'░') : (is_busy ? U'=' : U'.');
    grid.fill(y, x + at, end - at, letter, {.ink = ink_of(share.group)});
    at = std::max(at, end);
  }
  return x + width;
}

constexpr int kIndent = 6;

void put_training(Grid& grid, int y, const readout::Training& training) {
  std::string text = fmt::format("step {}", training.steps);
  if (training.rank >= 0) text = fmt::format("rank {} ", training.rank) + text;
  if (training.step_ns) text += " · " + output::format_duration(*training.step_ns) + "/step";
  if (training.samples_per_second) {
    text += " · " + output::format_number(*training.samples_per_second) + " samples/s";
  }
  int x = grid.put(y, kIndent, text) + 2;
  if (training.shares.empty()) {
    grid.put(y, x, "GPU not watched yet", {.ink = Ink::kFaint});
    return;
  }
  const auto words_of = [](const readout::Training::Share& share) {
    return fmt::format("{} {:.0f}%", share.cause, share.share * kPercent);
  };
  // Words first: the bar is left out where they have no room beside it.
  constexpr int kBar = 20;
  const int first = output::display_width(words_of(training.shares.front()));
  if (x + kBar + 1 + first <= grid.width()) x = put_causes_bar(grid, y, x, kBar, training) + 1;
  // Whole words only: half of a cause misleads.
  for (const readout::Training::Share& share : training.shares) {
    const std::string words = words_of(share);
    constexpr double kWorthSaying = 0.01;
    if (share.share < kWorthSaying || x + output::display_width(words) > grid.width()) break;
    x = grid.put(y, x, words, {.ink = ink_of(share.group)}) + 2;
  }
}

void put_row(const Part& part, int y, const std::vector<Column>& columns, const ProcessRow& row) {
  Grid& grid = part.screen.grid;
  const Style style{.ink = row.process == nullptr ? Ink::kFaint : Ink::kPlain};
  int x = 0;
  for (const Column& column : columns) {
    const std::string text = column.cell(row);
    if (column.is_left) {
      grid.put_short(y, x, text, column.width, style);
    } else {
      grid.put_right(y, x + column.width, text, column.width, style);
    }
    x += column.width + kGap;
  }
  const std::string branch = row.depth == 0
                                 ? ""
                                 : std::string(static_cast<std::size_t>(row.depth - 1) * 2, ' ') +
                                       (grid.unicode() ? "└ " : "- ");
  x = grid.put(y, x, branch, {.ink = Ink::kFaint});
  grid.put_short(y, x, or_dash(program_of(row)), grid.width() - x, style);
}

void put_titles(const Part& part, int y, const std::vector<Column>& columns) {
  Screen& screen = part.screen;
  const bool is_focused = part.ui.focus == Focus::kProcesses || part.ui.view == View::kProcesses;
  const std::string arrow =
      screen.grid.unicode() ? (part.ui.descending ? "▼" : "▲") : (part.ui.descending ? "v" : "^");
  const auto put = [&](std::optional<SortKey> key, std::string_view title, int x, int width,
                       bool is_left) {
    const bool is_sorted = key == part.ui.sort;
    const Style style{.ink = is_focused ? Ink::kInfo : Ink::kFaint,
                      .bold = is_focused || is_sorted};
    const std::string text = is_sorted ? std::string(title) + arrow : std::string(title);
    if (is_left) {
      screen.grid.put(y, x, text, style, width);
    } else {
      screen.grid.put_right(y, x + width, text, width, style);
    }
    if (key) {
      screen.hits.push_back(
          {.kind = Hit::Kind::kColumn, .y = y, .x = x, .width = width + kGap, .column = *key});
    }
  };
  int x = 0;
  for (const Column& column : columns) {
    put(column.key, column.title, x, column.width, column.is_left);
    x += column.width + kGap;
  }
  put(SortKey::kProgram, "program", x, std::max(0, screen.grid.width() - x), true);
}

std::string nothing_text(const Part& part) {
  if (!part.ui.filter.empty()) return "no process matches \"" + part.ui.filter + "\"";
  return part.sight.live.snapshot->devices.empty() ? "" : "no process uses a GPU";
}

// Scrolls so that the selected row is in sight with all its lines.
void bring_into_sight(Ui& ui, const std::vector<ProcessRow>& rows, int selected, int height,
                      bool is_full) {
  const auto count = static_cast<int>(rows.size());
  ui.process_top = std::clamp(ui.process_top, 0, std::max(0, std::min(selected, count - 1)));
  int top = selected;
  int used = lines_of(rows[static_cast<std::size_t>(selected)], is_full);
  while (top > ui.process_top) {
    used += lines_of(rows[static_cast<std::size_t>(top - 1)], is_full);
    if (used > height) break;
    --top;
  }
  ui.process_top = top;
  // No blank rows at the end while there is something above.
  int left = height;
  int last = count;
  while (last > 0) {
    left -= lines_of(rows[static_cast<std::size_t>(last - 1)], is_full);
    if (left < 0) break;
    --last;
  }
  ui.process_top = std::min(ui.process_top, last);
}

}  // namespace

std::string running_text(double seconds) {
  constexpr std::int64_t kMinute = 60;
  constexpr std::int64_t kHour = 60 * kMinute;
  constexpr std::int64_t kDay = 24 * kHour;
  const auto whole = static_cast<std::int64_t>(std::clamp(seconds, 0.0, 1e12));
  if (whole >= kDay) return fmt::format("{}d {:02}h", whole / kDay, whole % kDay / kHour);
  if (whole < kHour) return fmt::format("{}:{:02}", whole / kMinute, whole % kMinute);
  return fmt::format("{}:{:02}:{:02}", whole / kHour, whole % kHour / kMinute, whole % kMinute);
}

void put_processes(const Part& part, Area area) {
  Screen& screen = part.screen;
  const std::vector<ProcessRow>& rows = screen.processes;
  const bool is_full = part.ui.view == View::kProcesses;
  const bool is_focused = is_full || part.ui.focus == Focus::kProcesses;
  const std::vector<Column> columns = columns_for(screen.grid.width(), rows);
  put_titles(part, area.y, columns);
  const int height = area.height - 1;
  screen.process_page = std::max(1, height);
  if (height <= 0) return;
  if (rows.empty()) {
    screen.grid.put_short(area.y + 1, 0, nothing_text(part), screen.grid.width(),
                          {.ink = Ink::kFaint});
    return;
  }
  auto found = std::ranges::find(rows, part.ui.process, &ProcessRow::id);
  if (found == rows.end()) found = rows.begin();
  const auto selected = static_cast<int>(found - rows.begin());
  bring_into_sight(part.ui, rows, selected, height, is_full);

  int y = area.y + 1;
  const int end = area.y + area.height;
  auto i = static_cast<std::size_t>(part.ui.process_top);
  for (; i < rows.size() && y < end; ++i) {
    const ProcessRow& row = rows[i];
    put_row(part, y, columns, row);
    if (is_focused && static_cast<int>(i) == selected) {
      screen.grid.set_reverse(y, 0, screen.grid.width());
    }
    const int lines = std::min(lines_of(row, is_full), end - y);
    if (lines > 1) put_training(screen.grid, y + 1, *row.training);
    if (lines > 2) {
      screen.grid.put_short(y + 2, kIndent, row.training->finding, screen.grid.width() - kIndent,
                            {.ink = ink_of(row.training->severity)});
    }
    for (int k = 0; k < lines; ++k) {
      screen.hits.push_back({.kind = Hit::Kind::kProcess,
                             .y = y + k,
                             .width = screen.grid.width(),
                             .process = row.id});
    }
    y += lines;
  }
  if (part.ui.process_top > 0 || i < rows.size()) {
    screen.grid.put_right(area.y, screen.grid.width(),
                          fmt::format(" {}–{} of {}", part.ui.process_top + 1, i, rows.size()), 24,
                          {.ink = Ink::kFaint});
  }
}

}  // namespace pyrometer::tui

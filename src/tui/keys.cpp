#include "tui/keys.h"

#include <algorithm>

#include "base/utf8.h"
#include "output/display.h"

namespace pyrometer::tui {
namespace {

constexpr std::size_t kLongestFilter = 200;

bool shows_processes(const Ui& ui) {
  return ui.view == View::kProcesses ||
         (ui.view == View::kOverview && ui.focus == Focus::kProcesses);
}

// Moves within a list; -1 where it is empty.
int moved(int at, long by, std::size_t count) {
  if (count == 0) return -1;
  const auto last = static_cast<long>(count) - 1;
  return static_cast<int>(std::clamp(static_cast<long>(at) + by, 0L, last));
}

constexpr long kAll = 1'000'000'000;

void move_device(const Screen& screen, Ui& ui, long by) {
  const auto found = std::ranges::find(screen.devices, ui.device);
  const int at =
      found == screen.devices.end() ? 0 : static_cast<int>(found - screen.devices.begin());
  const int to = moved(at, by, screen.devices.size());
  if (to >= 0) ui.device = screen.devices[static_cast<std::size_t>(to)];
}

void move_process(const Screen& screen, Ui& ui, long by) {
  const auto found = std::ranges::find(screen.processes, ui.process, &ProcessRow::id);
  const int at =
      found == screen.processes.end() ? 0 : static_cast<int>(found - screen.processes.begin());
  const int to = moved(at, by, screen.processes.size());
  if (to >= 0) ui.process = screen.processes[static_cast<std::size_t>(to)].id;
}

bool shows_text(const Ui& ui) {
  return ui.view == View::kHelp || ui.view == View::kDevice || ui.overlay == Overlay::kWhy;
}

void move(const Screen& screen, Ui& ui, long by) {
  if (shows_text(ui)) {
    const long most = std::max(0, screen.text_rows - screen.text_page);
    ui.text_top = static_cast<int>(std::clamp(static_cast<long>(ui.text_top) + by, 0L, most));
  } else if (shows_processes(ui)) {
    move_process(screen, ui, by);
  } else {
    move_device(screen, ui, by);
  }
}

int page_of(const Screen& screen, const Ui& ui) {
  return std::max(1, shows_text(ui)        ? screen.text_page
                     : shows_processes(ui) ? screen.process_page
                                           : screen.device_page);
}

// Whether the key is one that moves.
bool handle_moves(const Event& event, const Screen& screen, Ui& ui) {
  switch (event.key) {
    case Key::kUp:
      move(screen, ui, -1);
      return true;
    case Key::kDown:
      move(screen, ui, 1);
      return true;
    case Key::kPageUp:
      move(screen, ui, -page_of(screen, ui));
      return true;
    case Key::kPageDown:
      move(screen, ui, page_of(screen, ui));
      return true;
    case Key::kHome:
      move(screen, ui, -kAll);
      return true;
    case Key::kEnd:
      move(screen, ui, kAll);
      return true;
    default:
      break;
  }
  if (event.key != Key::kLetter) return false;
  switch (event.letter) {
    case U'k':
      move(screen, ui, -1);
      return true;
    case U'j':
      move(screen, ui, 1);
      return true;
    case U'g':
      move(screen, ui, -kAll);
      return true;
    case U'G':
      move(screen, ui, kAll);
      return true;
    default:
      return false;
  }
}

void sort_by(Ui& ui, SortKey key) {
  if (ui.sort == key) {
    ui.descending = !ui.descending;
    return;
  }
  ui.sort = key;
  ui.descending = descends_at_first(key);
}

void sort_by_next(Ui& ui, std::size_t by) {
  ui.sort = static_cast<SortKey>((static_cast<std::size_t>(ui.sort) + by) % kSortKeys);
  ui.descending = descends_at_first(ui.sort);
}

void open_view(Ui& ui, View view) {
  if (ui.view == view) return;
  if (view == View::kHelp) ui.before_help = ui.view;
  ui.view = view;
  ui.text_top = 0;
}

void go_back(Ui& ui) {
  if (ui.view == View::kHelp) {
    ui.view = ui.before_help;
  } else if (ui.view != View::kOverview) {
    ui.view = View::kOverview;
  } else {
    ui.filter.clear();
  }
  ui.text_top = 0;
}

Action aim(const Screen& screen, Ui& ui) {
  if (!shows_processes(ui)) {
    ui.message = "Tab goes to the processes: select one there to send it a signal";
    ui.message_ink = Ink::kInfo;
    return Action::kNone;
  }
  auto row = std::ranges::find(screen.processes, ui.process, &ProcessRow::id);
  if (row == screen.processes.end()) row = screen.processes.begin();
  if (row == screen.processes.end()) return Action::kNone;
  ui.target = row->id;
  ui.target_name = program_of(*row);
  ui.signal_choice = 0;
  ui.overlay = Overlay::kSignal;
  return Action::kAim;
}

Action handle_filter(const Event& event, Ui& ui) {
  switch (event.key) {
    case Key::kEnter:
      ui.is_filtering = false;
      break;
    case Key::kEscape:
      ui.is_filtering = false;
      ui.filter.clear();
      break;
    case Key::kBackspace:
      while (!ui.filter.empty() && (static_cast<unsigned char>(ui.filter.back()) & 0xC0U) == 0x80) {
        ui.filter.pop_back();
      }
      if (!ui.filter.empty()) ui.filter.pop_back();
      break;
    case Key::kLetter:
      if (event.letter >= 0x20 && ui.filter.size() < kLongestFilter) {
        ui.filter += output::printable(utf8_of(event.letter), true);
      }
      break;
    default:
      break;
  }
  return Action::kNone;
}

Action handle_signal_menu(const Event& event, Ui& ui) {
  const auto count = static_cast<int>(signal_choices().size());
  const bool is_letter = event.key == Key::kLetter;
  if (event.key == Key::kEscape || (is_letter && event.letter == U'q')) {
    ui.overlay = Overlay::kNone;
  } else if (event.key == Key::kUp || (is_letter && event.letter == U'k')) {
    ui.signal_choice = std::max(0, ui.signal_choice - 1);
  } else if (event.key == Key::kDown || (is_letter && event.letter == U'j')) {
    ui.signal_choice = std::min(count - 1, ui.signal_choice + 1);
  } else if (event.key == Key::kEnter) {
    ui.overlay = Overlay::kConfirm;
  } else if (is_letter && event.letter > U'0' &&
             event.letter <= U'0' + static_cast<char32_t>(count)) {
    ui.signal_choice = static_cast<int>(event.letter - U'1');
    ui.overlay = Overlay::kConfirm;
  }
  return Action::kNone;
}

Action handle_confirm(const Event& event, Ui& ui) {
  ui.overlay = Overlay::kNone;
  const bool is_yes = event.key == Key::kLetter && (event.letter == U'y' || event.letter == U'Y');
  return is_yes ? Action::kSendSignal : Action::kNone;
}

Action handle_click(const Event& event, const Screen& screen, Ui& ui) {
  for (const Hit& hit : screen.hits) {
    if (event.y != hit.y || event.x < hit.x || event.x >= hit.x + hit.width) continue;
    if (hit.kind == Hit::Kind::kColumn) {
      sort_by(ui, hit.column);
    } else if (hit.kind == Hit::Kind::kDevice) {
      const bool again = ui.focus == Focus::kDevices && ui.device == hit.device;
      ui.focus = Focus::kDevices;
      ui.device = hit.device;
      if (again) open_view(ui, View::kDevice);
    } else {
      ui.focus = Focus::kProcesses;
      ui.process = hit.process;
    }
    break;
  }
  return Action::kNone;
}

// Letters that mean something in every view.
Action handle_letter(char32_t letter, const Screen& screen, Ui& ui) {
  switch (letter) {
    case U'q':
      return Action::kQuit;
    case 0x0C:  // Ctrl-L
      return Action::kRepaint;
    case U'?':
      open_view(ui, View::kHelp);
      break;
    case U' ':
      ui.is_paused = !ui.is_paused;
      break;
    case U'p':
      open_view(ui, ui.view == View::kProcesses ? View::kOverview : View::kProcesses);
      break;
    case U'/':
      if (ui.view == View::kOverview) ui.focus = Focus::kProcesses;
      ui.is_filtering = ui.view == View::kOverview || ui.view == View::kProcesses;
      break;
    case U's':
    case U'>':
    case U'l':
      sort_by_next(ui, 1);
      break;
    case U'S':
    case U'<':
    case U'h':
      sort_by_next(ui, kSortKeys - 1);
      break;
    case U'r':
      ui.descending = !ui.descending;
      break;
    case U't':
      ui.tree = !ui.tree;
      break;
    case U'm':
      ui.first_curve = (ui.first_curve + 1) % static_cast<int>(kCurves);
      break;
    case U'M':
      ui.first_curve = (ui.first_curve + static_cast<int>(kCurves) - 1) % static_cast<int>(kCurves);
      break;
    case U'n':
      move_device(screen, ui, 1);
      break;
    case U'N':
      move_device(screen, ui, -1);
      break;
    case U'w':
      ui.overlay = Overlay::kWhy;
      ui.text_top = 0;
      break;
    case U'x':
      return aim(screen, ui);
    default:
      break;
  }
  return Action::kNone;
}

Action handle_why(const Event& event, const Screen& screen, Ui& ui) {
  if (handle_moves(event, screen, ui)) return Action::kNone;
  if (event.key == Key::kWheelUp || event.key == Key::kWheelDown) {
    move(screen, ui, event.key == Key::kWheelUp ? -3 : 3);
    return Action::kNone;
  }
  ui.overlay = Overlay::kNone;
  ui.text_top = 0;
  return Action::kNone;
}

}  // namespace

Action handle(const Event& event, const Screen& screen, Ui& ui) {
  if (event.key == Key::kNone) return Action::kNone;
  ui.message.clear();
  if (ui.is_filtering && event.key != Key::kClick && event.key != Key::kUp &&
      event.key != Key::kDown) {
    return handle_filter(event, ui);
  }
  if (ui.overlay == Overlay::kSignal) return handle_signal_menu(event, ui);
  if (ui.overlay == Overlay::kConfirm) return handle_confirm(event, ui);
  if (ui.overlay == Overlay::kWhy) return handle_why(event, screen, ui);
  if (handle_moves(event, screen, ui)) return Action::kNone;
  constexpr long kWheel = 3;
  switch (event.key) {
    case Key::kWheelUp:
      move(screen, ui, -kWheel);
      break;
    case Key::kWheelDown:
      move(screen, ui, kWheel);
      break;
    case Key::kClick:
      return handle_click(event, screen, ui);
    case Key::kLeft:
      return handle_letter(U'<', screen, ui);
    case Key::kRight:
      return handle_letter(U'>', screen, ui);
    case Key::kTab:
      if (ui.view == View::kOverview) {
        ui.focus = ui.focus == Focus::kDevices ? Focus::kProcesses : Focus::kDevices;
      }
      break;
    case Key::kEnter:
      if (ui.view == View::kOverview) {
        open_view(ui, ui.focus == Focus::kDevices ? View::kDevice : View::kProcesses);
      }
      break;
    case Key::kEscape:
    case Key::kBackspace:
      go_back(ui);
      break;
    case Key::kHelp:
      open_view(ui, View::kHelp);
      break;
    case Key::kSignal:
      return aim(screen, ui);
    case Key::kLetter:
      return handle_letter(event.letter, screen, ui);
    default:
      break;
  }
  return Action::kNone;
}

}  // namespace pyrometer::tui

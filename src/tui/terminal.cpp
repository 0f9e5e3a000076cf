// ncurses pollutes names with macros: it stays within this file.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1

#include "tui/terminal.h"

#include <curses.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdlib>
#include <cwchar>
#include <optional>
#include <string_view>
#include <utility>

#include "tui/rescue.h"
#include "tui/terminfo.h"

namespace pyrometer::tui {
namespace {

constexpr int kEscapeDelayMs = 25;

// Letters of other alphabets need a character set that has them, whatever the environment says of
// the language.
bool set_up_unicode(bool wanted) {
  const auto is_utf8 = [] { return std::string_view(nl_langinfo(CODESET)) == "UTF-8"; };
  std::setlocale(LC_CTYPE, "");
  if (!wanted) return false;
  if (is_utf8()) return true;
  for (const char* name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"}) {
    if (std::setlocale(LC_CTYPE, name) != nullptr && is_utf8()) return true;
  }
  return false;
}

// A capability without the pauses that only old terminals need.
std::string capability(const char* name) {
  const char* const text = tigetstr(name);
  if (text == nullptr || text == reinterpret_cast<const char*>(-1)) return {};
  std::string out;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.starts_with("$<") ? rest.find('>') : std::string_view::npos;
    if (end != std::string_view::npos) {
      rest.remove_prefix(end + 1);
      continue;
    }
    out += rest.front();
    rest.remove_prefix(1);
  }
  return out;
}

std::string reset_sequence() {
  constexpr std::string_view kMouseOff = "\x1b[?1000l\x1b[?1006l";
  std::string reset;
  if (!capability("kmous").empty()) reset += kMouseOff;
  return reset + capability("sgr0") + capability("rmkx") + capability("cnorm") +
         capability("rmcup");
}

enum Pair : short { kBadPair = 1, kWarnPair, kGoodPair, kInfoPair, kFaintPair };

struct Look {
  attr_t attributes = A_NORMAL;
  short pair = 0;
};

Look look_of(const Style& style, bool color) {
  Look look;
  switch (style.ink) {
    case Ink::kStrong:
      look.attributes |= A_BOLD;
      break;
    case Ink::kBad:
      look = {A_BOLD, kBadPair};
      break;
    case Ink::kWarn:
      look.pair = kWarnPair;
      break;
    case Ink::kGood:
      look.pair = kGoodPair;
      break;
    case Ink::kInfo:
      look.pair = kInfoPair;
      break;
    case Ink::kFaint:
      look.pair = kFaintPair;
      break;
    case Ink::kPlain:
      break;
  }
  if (!color) look.pair = 0;
  if (style.bold) look.attributes |= A_BOLD;
  if (style.reverse) look.attributes |= A_REVERSE;
  return look;
}

void set_up_colors() {
  start_color();
  use_default_colors();
  constexpr short kDefault = -1;
  constexpr short kGray = 245;
  init_pair(kBadPair, COLOR_RED, kDefault);
  init_pair(kWarnPair, COLOR_YELLOW, kDefault);
  init_pair(kGoodPair, COLOR_GREEN, kDefault);
  init_pair(kInfoPair, COLOR_CYAN, kDefault);
  init_pair(kFaintPair, COLORS >= 256 ? kGray : kDefault, kDefault);
}

std::pair<int, int> window_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) {
    return {LINES, COLS};
  }
  return {size.ws_row, size.ws_col};
}

Key key_of(wint_t code) {
  switch (code) {
    case KEY_UP:
      return Key::kUp;
    case KEY_DOWN:
      return Key::kDown;
    case KEY_LEFT:
      return Key::kLeft;
    case KEY_RIGHT:
      return Key::kRight;
    case KEY_PPAGE:
      return Key::kPageUp;
    case KEY_NPAGE:
      return Key::kPageDown;
    case KEY_HOME:
      return Key::kHome;
    case KEY_END:
      return Key::kEnd;
    case KEY_ENTER:
      return Key::kEnter;
    case KEY_BACKSPACE:
      return Key::kBackspace;
    case KEY_F(1):
      return Key::kHelp;
    case KEY_F(9):
      return Key::kSignal;
    default:
      return Key::kNone;
  }
}

Event event_of_letter(wint_t letter) {
  constexpr wint_t kEscape = 27;
  constexpr wint_t kDelete = 127;
  switch (letter) {
    case L'\t':
      return {.key = Key::kTab};
    case L'\n':
    case L'\r':
      return {.key = Key::kEnter};
    case kEscape:
      return {.key = Key::kEscape};
    case L'\b':
    case kDelete:
      return {.key = Key::kBackspace};
    case 0x02:  // Ctrl-B
    case 0x15:  // Ctrl-U
      return {.key = Key::kPageUp};
    case 0x04:  // Ctrl-D
    case 0x06:  // Ctrl-F
      return {.key = Key::kPageDown};
    default:
      return {.key = Key::kLetter, .letter = static_cast<char32_t>(letter)};
  }
}

Event mouse_event() {
  MEVENT mouse{};
  if (getmouse(&mouse) != OK) return {};
  Event event{.y = mouse.y, .x = mouse.x};
  if ((mouse.bstate & BUTTON4_PRESSED) != 0) {
    event.key = Key::kWheelUp;
  } else if ((mouse.bstate & BUTTON5_PRESSED) != 0) {
    event.key = Key::kWheelDown;
  } else if ((mouse.bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED)) != 0) {
    event.key = Key::kClick;
  }
  return event;
}

}  // namespace

struct Terminal::Curses {
  SCREEN* screen = nullptr;
  bool color = false;
  std::optional<Grid> drawn;  // what stands there; nothing: unknown
};

Terminal::Terminal(std::unique_ptr<Curses> curses, Looks looks)
    : curses_(std::move(curses)), looks_(looks) {}

base::Result<std::unique_ptr<Terminal>> Terminal::open(const TerminalOptions& options) {
  const auto refuse = [](std::string why) {
    return base::fail({.kind = base::ErrorKind::kUnsupported, .message = std::move(why)});
  };
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) {
    return refuse("this is no terminal");
  }
  termios before{};
  ::tcgetattr(STDIN_FILENO, &before);
  Looks looks{.unicode = set_up_unicode(options.unicode)};
  const std::string type = known_terminal_type(options.terminfo_folder);
  if (type.empty()) {
    const char* const told = std::getenv("TERM");
    return refuse(told == nullptr || *told == 0
                      ? "TERM is not set"
                      : "nothing is known of terminals of the type TERM=" + std::string(told));
  }
  auto curses = std::make_unique<Curses>();
  curses->screen = newterm(type.c_str(), stdout, stdin);
  if (curses->screen == nullptr || capability("cup").empty()) {
    if (curses->screen != nullptr) {
      endwin();
      delscreen(curses->screen);
    }
    return refuse("the terminal (TERM=" + type + ") cannot move its cursor");
  }
  // The Linux console's fonts have neither braille nor eighths of blocks.
  const bool is_console = type.starts_with("linux");
  looks.graph = !looks.unicode || is_console ? GraphStyle::kAscii : GraphStyle::kBraille;
  arm_rescue(reset_sequence(), before);
  cbreak();
  noecho();
  nonl();
  curs_set(0);
  typeahead(-1);
  set_escdelay(kEscapeDelayMs);
  keypad(stdscr, TRUE);
  nodelay(stdscr, TRUE);
  mouseinterval(0);
  mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, nullptr);
  curses->color = options.color && has_colors();
  if (curses->color) set_up_colors();
  std::unique_ptr<Terminal> terminal(new Terminal(std::move(curses), looks));
  terminal->resize();
  return terminal;
}

Terminal::~Terminal() {
  endwin();
  disarm_rescue();
  delscreen(curses_->screen);
}

int Terminal::width() const { return getmaxx(stdscr); }
int Terminal::height() const { return getmaxy(stdscr); }

void Terminal::draw(const Grid& grid) {
  const Grid* before = curses_->drawn ? &*curses_->drawn : nullptr;
  if (before != nullptr && (before->width() != grid.width() || before->height() != grid.height())) {
    before = nullptr;
  }
  if (before == nullptr) erase();
  for (int y = 0; y < std::min(grid.height(), height()); ++y) {
    for (int x = 0; x < std::min(grid.width(), width()); ++x) {
      const Cell& cell = grid.at(y, x);
      if (cell.columns == 0 || (before != nullptr && before->at(y, x) == cell)) continue;
      // What the system takes for wider or narrower than we do would shift the rest of the row.
      const bool agrees = ::wcwidth(static_cast<wchar_t>(cell.letter)) == cell.columns;
      const wchar_t stand_in = looks_.unicode ? L'\uFFFD' : L'?';
      std::array<wchar_t, 3> text{agrees ? static_cast<wchar_t>(cell.letter) : stand_in,
                                  agrees ? static_cast<wchar_t>(cell.mark) : L'\0', L'\0'};
      if (text[1] != L'\0' && ::wcwidth(text[1]) != 0) text[1] = L'\0';
      const Look look = look_of(cell.style, curses_->color);
      cchar_t letter{};
      if (setcchar(&letter, text.data(), look.attributes, look.pair, nullptr) != OK) continue;
      mvadd_wch(y, x, &letter);
      if (!agrees && cell.columns == 2) mvaddch(y, x + 1, ' ');
    }
  }
  refresh();
  curses_->drawn = grid;
}

void Terminal::resize() {
  const auto [rows, columns] = window_size();
  resizeterm(std::max(1, rows), std::max(1, columns));
  curses_->drawn.reset();
}

void Terminal::repaint() {
  clearok(curscr, TRUE);
  curses_->drawn.reset();
}

void Terminal::suspend() {
  def_prog_mode();
  endwin();
}

void Terminal::resume() {
  reset_prog_mode();
  resize();
  repaint();
}

Event Terminal::next_event() {
  wint_t code = 0;
  const int kind = get_wch(&code);
  if (kind == KEY_CODE_YES) {
    return code == KEY_MOUSE ? mouse_event() : Event{.key = key_of(code)};
  }
  return kind == OK ? event_of_letter(code) : Event{};
}

}  // namespace pyrometer::tui

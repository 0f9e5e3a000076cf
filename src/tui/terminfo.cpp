#define NCURSES_NOMACROS 1

#include "tui/terminfo.h"

#include <curses.h>
#include <term.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string_view>

#include "tui/terminfo_data.h"

namespace pyrometer::tui {
namespace {

// Where distributions keep their descriptions; the library knows Debian's places alone.
constexpr std::string_view kFolders =
    "/etc/terminfo:/lib/terminfo:/usr/share/terminfo:/usr/lib/terminfo:/usr/local/share/terminfo:"
    "/usr/local/lib/terminfo:/run/current-system/sw/share/terminfo:/usr/share/lib/terminfo:"
    "/opt/homebrew/share/terminfo";

void set_up_search(const std::string& folder) {
  const char* const told = std::getenv("TERMINFO_DIRS");
  std::string folders = told == nullptr ? "" : std::string(told) + ":";
  folders += kFolders;
  if (!folder.empty()) folders += ":" + folder;
  ::setenv("TERMINFO_DIRS", folders.c_str(), 1);
}

bool is_known(const std::string& type) {
  int problem = 0;
  if (setupterm(type.c_str(), STDOUT_FILENO, &problem) != OK) return false;
  del_curterm(cur_term);
  return true;
}

// A type that nearly every emulator of the family understands; empty where it is of none.
std::string relative_of(std::string_view type) {
  struct Family {
    std::string_view prefix;
    std::string_view type;
  };
  constexpr std::array kFamilies = {Family{"screen", "screen-256color"},
                                    Family{"tmux", "tmux-256color"},
                                    Family{"linux", "linux"},
                                    Family{"vt", "vt100"},
                                    Family{"xterm", "xterm-256color"},
                                    Family{"alacritty", "xterm-256color"},
                                    Family{"foot", "xterm-256color"},
                                    Family{"kitty", "xterm-256color"},
                                    Family{"wezterm", "xterm-256color"},
                                    Family{"ghostty", "xterm-256color"},
                                    Family{"rxvt", "xterm-256color"},
                                    Family{"konsole", "xterm-256color"},
                                    Family{"gnome", "xterm-256color"},
                                    Family{"vte", "xterm-256color"},
                                    Family{"iterm", "xterm-256color"},
                                    Family{"putty", "xterm-256color"},
                                    Family{"st-", "xterm-256color"},
                                    Family{"contour", "xterm-256color"},
                                    Family{"rio", "xterm-256color"},
                                    Family{"mintty", "xterm-256color"}};
  for (const Family& family : kFamilies) {
    if (type.starts_with(family.prefix)) return std::string(family.type);
  }
  return type.find("256color") != std::string_view::npos ? "xterm-256color" : "";
}

// A description can also be handed over as text.
bool take_built_in(const std::string& type) {
  for (const BuiltInTerminal& built_in : built_in_terminals()) {
    if (built_in.name != type) continue;
    ::setenv("TERMINFO", ("hex:" + std::string(built_in.hex)).c_str(), 1);
    return is_known(type);
  }
  return false;
}

}  // namespace

std::string known_terminal_type(const std::string& folder) {
  const char* const told = std::getenv("TERM");
  if (told == nullptr || *told == 0) return {};
  const std::string type = told;
  set_up_search(folder);
  if (is_known(type)) return type;
  const std::string relative = relative_of(type);
  if (relative.empty()) return {};
  if (is_known(relative) || take_built_in(relative)) return relative;
  return {};
}

}  // namespace pyrometer::tui

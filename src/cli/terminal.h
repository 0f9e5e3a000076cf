// What the process is attached to and how it may write there. Read once, at the start.
#pragma once

namespace pyrometer::cli {

enum class ColorChoice { kAuto, kAlways, kNever };

struct Terminal {
  ColorChoice asked = ColorChoice::kAuto;  // of --color
  bool stdin_is_terminal = false;
  bool stdout_is_terminal = false;
  bool stderr_is_terminal = false;
  bool color = false;   // on stdout, see decide_color
  bool unicode = true;  // false where LC_ALL, LC_CTYPE or LANG names another character set
  int width = 100;      // columns: the terminal's, else $COLUMNS, else 100
};

// A choice other than kAuto wins; then NO_COLOR (set and not empty) turns colour off,
// CLICOLOR_FORCE (set, not empty, not 0) turns it on; else colour goes to terminals other than
// TERM=dumb.
[[nodiscard]] bool decide_color(ColorChoice choice, bool is_terminal);

[[nodiscard]] Terminal read_terminal(ColorChoice choice);

}  // namespace pyrometer::cli

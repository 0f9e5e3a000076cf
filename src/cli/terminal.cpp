#include "cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

namespace pyrometer::cli {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view{} : value;
}

int terminal_width(bool stdout_is_terminal) {
  winsize size{};
  if (stdout_is_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return size.ws_col;
  }
  const std::string_view columns = environment("COLUMNS");
  int width = 0;
  const auto [end, error] = std::from_chars(columns.begin(), columns.end(), width);
  constexpr int kDefaultWidth = 100;
  return error == std::errc{} && end == columns.end() && width > 0 ? width : kDefaultWidth;
}

bool locale_has_unicode() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale(environment(name));
    if (locale.empty()) continue;
    std::transform(locale.begin(), locale.end(), locale.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return locale.find("UTF-8") != std::string::npos || locale.find("UTF8") != std::string::npos;
  }
  // Nothing set, as in most containers: what shows the text there is a UTF-8 terminal all the same.
  return true;
}

}  // namespace

bool decide_color(ColorChoice choice, bool is_terminal) {
  if (choice != ColorChoice::kAuto) return choice == ColorChoice::kAlways;
  if (!environment("NO_COLOR").empty()) return false;
  const std::string_view force = environment("CLICOLOR_FORCE");
  if (!force.empty() && force != "0") return true;
  return is_terminal && environment("TERM") != "dumb";
}

Terminal read_terminal(ColorChoice choice) {
  Terminal terminal;
  terminal.asked = choice;
  terminal.stdin_is_terminal = isatty(STDIN_FILENO) == 1;
  terminal.stdout_is_terminal = isatty(STDOUT_FILENO) == 1;
  terminal.stderr_is_terminal = isatty(STDERR_FILENO) == 1;
  terminal.color = decide_color(choice, terminal.stdout_is_terminal);
  terminal.unicode = locale_has_unicode();
  terminal.width = terminal_width(terminal.stdout_is_terminal);
  return terminal;
}

}  // namespace pyrometer::cli

#include "cli/message.h"

#include <cstdio>
#include <string>
#include <system_error>

namespace pyrometer::cli {
namespace {

// Names of files come from anywhere: what they hold must not reach the terminal as commands.
void append_printable(std::string_view text, std::string& line) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      line += c;
    } else {
      line += "\\x";
      line += kHex[byte >> 4];
      line += kHex[byte & 0xf];
    }
  }
}

void print_line(std::string_view prefix, std::string_view text) {
  std::string line(prefix);
  append_printable(text, line);
  line += '\n';
  // Nobody can be told when stderr itself is gone.
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

}  // namespace

void print_error(std::string_view text) { print_line("pyrometer: ", text); }

void print_note(std::string_view text) { print_line("pyrometer: ", text); }

void print_warning(std::string_view text) { print_line("pyrometer: warning: ", text); }

std::string system_error_text(int error) { return std::generic_category().message(error); }

}  // namespace pyrometer::cli

#include "cli/message.h"

#include <cstdio>
#include <system_error>

namespace pyrometer::cli {
namespace {

void print_line(std::string_view prefix, std::string_view text) {
  std::string line(prefix);
  line += text;
  line += '\n';
  // Nobody can be told when stderr itself is gone.
  static_cast<void>(std::fwrite(line.data(), 1, line.size(), stderr));
}

}  // namespace

void print_error(std::string_view text) { print_line("pyrometer: ", text); }

void print_warning(std::string_view text) { print_line("pyrometer: warning: ", text); }

std::string system_error_text(int error) { return std::generic_category().message(error); }

}  // namespace pyrometer::cli

#include "debug.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace pyrometer::inject {

void debug(const char* format, ...) {
  static const bool wanted = ::secure_getenv("PYROMETER_DEBUG") != nullptr;
  if (!wanted) {
    return;
  }
  char line[512];
  int length = std::snprintf(line, sizeof line, "pyrometer[%d]: ", static_cast<int>(::getpid()));
  va_list arguments;
  va_start(arguments, format);
  length += std::vsnprintf(line + length, sizeof line - 1 - static_cast<std::size_t>(length),
                           format, arguments);
  va_end(arguments);
  if (length > static_cast<int>(sizeof line) - 2) {
    length = static_cast<int>(sizeof line) - 2;
  }
  line[length] = '\n';
  [[maybe_unused]] const auto written = ::write(2, line, static_cast<std::size_t>(length) + 1);
}

}  // namespace pyrometer::inject

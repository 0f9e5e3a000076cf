// Messages to stderr when PYROMETER_DEBUG is set; nothing otherwise, ever: the program's output is
// its own.
#pragma once

namespace pyrometer::inject {

[[gnu::format(printf, 1, 2)]] void debug(const char* format, ...);

}  // namespace pyrometer::inject

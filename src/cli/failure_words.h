// Why a program failed, in the words of its own output.
#pragma once

#include <string>
#include <string_view>

namespace pyrometer::cli {

// From the end of a program's output, on one line of 300 bytes at most. Of a Python traceback: the
// exception with its message and the user's own line, "ValueError: no (train.py:12, in step)";
// else the last line. Of several ranks' tracebacks, the last that is not a launcher's report that
// a rank failed. "": there is no output.
[[nodiscard]] std::string failure_words(std::string_view output);

// The last line that is not blank, as short.
[[nodiscard]] std::string last_line(std::string_view output);

// A traceback's alone; "" where there is none.
[[nodiscard]] std::string traceback_words(std::string_view output);

}  // namespace pyrometer::cli

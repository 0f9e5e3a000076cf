// Text as it may be shown. Names in a trace are untrusted: nothing of them reaches a terminal or a
// page before it went through printable().
#pragma once

#include <string>
#include <string_view>

namespace pyrometer::output {

// `text` without anything that could steer a terminal or mislead the eye: line breaks and tabs
// become spaces; other control characters, broken UTF-8, zero-width and bidirectional control
// characters become U+FFFD. Without `unicode` the result is ASCII: signs such as µ, × and → are
// spelled out, everything else becomes '?'. Applying it twice changes nothing.
[[nodiscard]] std::string printable(std::string_view text, bool unicode);

// Columns that printable text takes: 2 for East Asian wide characters and emoji, 0 for combining
// marks.
[[nodiscard]] int display_width(std::string_view text);

// The longest beginning of printable text that takes at most `width` columns; never empty unless
// the text is.
[[nodiscard]] std::string_view front_part(std::string_view text, int width);

// Printable text in at most `width` columns: the middle gives way to an ellipsis, more of the front
// is kept than of the back. A width below 1 counts as 1.
[[nodiscard]] std::string shorten_middle(std::string_view text, int width, bool unicode);

// The same for names of kernels and operators. Before anything is cut out of the middle, parts that
// tell little go, as far as needed: the return type and the argument list, then lambdas, argument
// lists of functors and namespaces, then nested template arguments, then numbers among them.
[[nodiscard]] std::string shorten_symbol(std::string_view name, int width, bool unicode);

// `text` and spaces up to `width` columns, on the right or on the left. Longer text stays.
[[nodiscard]] std::string pad_right(std::string text, int width);
[[nodiscard]] std::string pad_left(const std::string& text, int width);

}  // namespace pyrometer::output

// Small helpers on words and lines.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pyrometer::cli {

// Breaks text at spaces into lines of at most `width` bytes; a longer word stands alone.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t width);

// The candidate that `word` was probably meant to be: the one with the fewest edits (letters added,
// left out, changed or swapped with their neighbour), at most a third of the word. "" when none.
[[nodiscard]] std::string closest(std::string_view word, std::span<const std::string> candidates);

}  // namespace pyrometer::cli

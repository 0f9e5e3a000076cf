// Reading UTF-8 that may be broken.
#pragma once

#include <cstddef>
#include <string_view>

namespace pyrometer::base {

struct CodePoint {
  char32_t value = 0;      // U+FFFD where the bytes are not UTF-8
  std::size_t length = 0;  // bytes taken, at least 1
  bool valid = false;
};

// The code point at the start of `text`, which must not be empty. Overlong forms, surrogates and
// values above U+10FFFF are broken. A broken sequence takes the longest prefix that could have
// begun a sound one, so that each stands for one U+FFFD (Unicode 15, section 3.9, "substitution of
// maximal subparts").
[[nodiscard]] CodePoint decode_utf8(std::string_view text);

}  // namespace pyrometer::base

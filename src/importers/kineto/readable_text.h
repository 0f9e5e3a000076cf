// Text for people out of the raw bytes of a JSON string.
#pragma once

#include <string>
#include <string_view>

namespace pyrometer::importers::kineto {

// What a text needed to become readable text.
struct TextFlaws {
  bool invalid_utf8 = false;
  bool control_characters = false;
  bool invalid_escape = false;
  [[nodiscard]] bool any() const { return invalid_utf8 || control_characters || invalid_escape; }
};

// The readable form of a raw JSON string, and what was wrong with it. Unescapes; a string with an
// invalid escape is taken for one whose backslashes nobody escaped (a Windows path) and keeps them
// all; invalid UTF-8 becomes U+FFFD, control characters become blanks.
[[nodiscard]] std::string readable_text(std::string_view raw, TextFlaws& flaws);

// Whether a backslash in a raw JSON string begins no escape sequence.
[[nodiscard]] bool has_invalid_escape(std::string_view raw);

}  // namespace pyrometer::importers::kineto

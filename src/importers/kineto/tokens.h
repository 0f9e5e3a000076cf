// Walking over the tokens of JSON text, given where they begin.
//
// A token list ends with an entry that points at a NUL byte: NUL begins no token, so every walk
// stops there by itself and needs no other bounds check.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace pyrometer::importers::kineto {

using Token = const std::uint32_t*;

[[nodiscard]] inline bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

// Whether a scalar may be followed by `c`.
[[nodiscard]] inline bool ends_scalar(char c) {
  return c == ',' || c == '}' || c == ']' || c == '\0' || is_space(c);
}

// The text between the quotes of the string token `t`; a view with a null pointer when it has no
// closing quote. The string ends before the next token, so no byte of it is looked at.
[[nodiscard]] inline std::string_view string_at(const char* base, Token t) {
  const char* first = base + t[0] + 1;
  const char* last = base + t[1] - 1;
  while (last > first && is_space(*last)) --last;
  if (last < first || *last != '"') return {};
  return {first, static_cast<std::size_t>(last - first)};
}

// The text of a scalar token, without the white space behind it.
[[nodiscard]] inline std::string_view scalar_at(const char* base, Token t) {
  const char* first = base + t[0];
  const char* last = base + t[1];
  while (last > first && is_space(last[-1])) --last;
  return {first, static_cast<std::size_t>(last - first)};
}

// What a token does to the nesting depth; NUL closes everything.
inline constexpr int kCloseAll = -100;
inline constexpr std::array<std::int8_t, 256> kDepthChange = [] {
  std::array<std::int8_t, 256> change{};
  change['{'] = change['['] = 1;
  change['}'] = change[']'] = -1;
  change['\0'] = kCloseAll;
  return change;
}();

// The token behind the bracket that closes `depth` open ones, `t` being the first token inside;
// nullptr when the list ends before.
[[nodiscard]] inline Token skip_out(const char* base, Token t, int depth) {
  do {
    depth += kDepthChange[static_cast<unsigned char>(base[*t++])];
  } while (depth > 0);
  return depth == 0 ? t : nullptr;
}

// The token behind the value at `t`; nullptr when there is no value or the list ends inside it.
[[nodiscard]] inline Token skip_value(const char* base, Token t) {
  switch (base[*t]) {
    case '{':
    case '[':
      return skip_out(base, t + 1, 1);
    case '}':
    case ']':
    case ',':
    case ':':
    case '\0':
      return nullptr;
    default:
      return t + 1;
  }
}

}  // namespace pyrometer::importers::kineto

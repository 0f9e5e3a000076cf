// Numbers of a trace, read from their text: exact, and without locale or allocation.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace pyrometer::importers::kineto {

// Microseconds as written ("5206689936669.059", "1.5e3", "-3") to nanoseconds. Digits beyond the
// nanosecond round half to even. Nothing for text that is no number (inf, nan too) and for times
// beyond ±kMaxTimeNs. The text must begin at the number; what follows it is not looked at.
[[nodiscard]] std::optional<std::int64_t> parse_microseconds(std::string_view text);

// Bounds of a time stamp or base (until 2096, or as far before 1970) and of a duration (31 years):
// base + time + duration fits 64 bits.
inline constexpr std::int64_t kMaxTimeNs = 4'000'000'000'000'000'000;
static_assert(std::endian::native == std::endian::little, "eight_digits() depends on it");
inline constexpr std::int64_t kMaxDurationNs = 1'000'000'000'000'000'000;

// An integer; a fraction or exponent is cut towards zero, "0x…" is read as hexadecimal. Values that
// do not fit are clamped to the nearest that does.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);
[[nodiscard]] std::optional<std::uint64_t> parse_unsigned(std::string_view text);
[[nodiscard]] std::optional<double> parse_double(std::string_view text);

[[nodiscard]] inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Eight decimal digits at once, for little-endian machines.
[[nodiscard]] inline bool are_eight_digits(std::uint64_t bytes) {
  // Each byte's upper half must be 3, also after 6 has been added to it.
  constexpr std::uint64_t kUpper = 0xF0F0F0F0F0F0F0F0U;
  constexpr std::uint64_t kThrees = 0x3030303030303030U;
  constexpr std::uint64_t kSixes = 0x0606060606060606U;
  return (bytes & kUpper) == kThrees && ((bytes + kSixes) & kUpper) == kThrees;
}
[[nodiscard]] inline std::uint64_t eight_digits(std::uint64_t bytes) {
  // Pairs of digits, then pairs of pairs, then the halves.
  bytes = (bytes & 0x0F0F0F0F0F0F0F0FU) * 2561 >> 8;
  bytes = (bytes & 0x00FF00FF00FF00FFU) * 6553601 >> 16;
  return (bytes & 0x0000FFFF0000FFFFU) * 42949672960001 >> 32;
}

// The fast forms: `p` stands at the first byte of a token in a buffer that ends with a byte which
// is no digit. They read plain decimal numbers and return where they stopped; nullptr sends the
// caller to the general form.
[[nodiscard]] inline const char* read_microseconds(const char* p, std::int64_t& ns) {
  const bool negative = *p == '-';
  p += negative;
  const char* first = p;
  std::uint64_t value = 0;
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, p, sizeof bytes);
  if (are_eight_digits(bytes)) {
    value = eight_digits(bytes);
    p += 8;
  }
  while (is_digit(*p)) value = value * 10 + static_cast<std::uint64_t>(*p++ - '0');
  if (p == first || p - first > 16) return nullptr;  // 16 digits of µs reach the year 2286
  if (value > static_cast<std::uint64_t>(kMaxTimeNs) / 1000 - 1) return nullptr;
  value *= 1000;
  if (*p == '.') {
    ++p;
    std::uint64_t scale = 100;
    while (is_digit(*p) && scale > 0) {
      value += static_cast<std::uint64_t>(*p++ - '0') * scale;
      scale /= 10;
    }
    while (*p == '0') ++p;
    if (is_digit(*p)) return nullptr;  // needs rounding
  }
  if ((*p | 0x20) == 'e') return nullptr;
  ns = negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
  return p;
}

[[nodiscard]] inline const char* read_unsigned(const char* p, std::uint64_t& value) {
  const char* first = p;
  std::uint64_t v = 0;
  while (is_digit(*p)) v = v * 10 + static_cast<std::uint64_t>(*p++ - '0');
  if (p == first || p - first > 19 || *p == '.' || (*p | 0x20) == 'e') return nullptr;
  if (*first == '0' && (*p | 0x20) == 'x') return nullptr;
  value = v;
  return p;
}

}  // namespace pyrometer::importers::kineto

#include "base/utf8.h"

namespace pyrometer::base {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

// What may follow a lead byte: how many bytes, and the range of the first of them (Unicode 15,
// table 3-7); the others are always 80–BF.
struct Lead {
  std::size_t following = 0;
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte >= 0xC2 && byte <= 0xDF) return {1};
  if (byte == 0xE0) return {2, 0xA0, 0xBF};
  if (byte == 0xED) return {2, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF) return {2};
  if (byte == 0xF0) return {3, 0x90, 0xBF};
  if (byte == 0xF4) return {3, 0x80, 0x8F};
  if (byte >= 0xF1 && byte <= 0xF3) return {3};
  return {0};
}

}  // namespace

CodePoint decode_utf8(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return {first, 1, true};
  const Lead lead = lead_of(first);
  if (lead.following == 0) return {kReplacement, 1, false};
  // A lead byte of n following bytes carries 6 − n bits of the value.
  char32_t value = first & ((1U << (6 - lead.following)) - 1);
  for (std::size_t i = 1; i <= lead.following; ++i) {
    if (i >= text.size()) return {kReplacement, i, false};
    const auto byte = static_cast<unsigned char>(text[i]);
    const unsigned char low = i == 1 ? lead.low : 0x80;
    const unsigned char high = i == 1 ? lead.high : 0xBF;
    if (byte < low || byte > high) return {kReplacement, i, false};
    value = (value << 6) | (byte & 0x3FU);
  }
  return {value, lead.following + 1, true};
}

}  // namespace pyrometer::base

#include "importers/kineto/numbers.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace pyrometer::importers::kineto {
namespace {

// Of GCC and Clang; the pedantic must be told that we know.
__extension__ using Wide = unsigned __int128;

// A decimal number taken apart: ±digits × 10^exponent, digits without leading zeros. `digits` keeps
// the first kMaxDigits; `sticky` tells that some below them are not zero.
struct Decimal {
  bool negative = false;
  Wide digits = 0;
  int exponent = 0;
  bool sticky = false;
};

constexpr int kMaxDigits = 30;

std::optional<int> parse_exponent(std::string_view text) {
  if (text.empty() || (text[0] | 0x20) != 'e') return 0;
  text.remove_prefix(1);
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (!is_digit(c)) break;
    if (value < 100000) value = value * 10 + (c - '0');
  }
  return negative ? -value : value;
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal d;
  std::size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) d.negative = text[i++] == '-';
  bool any = false;
  bool fraction = false;
  int kept = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !fraction) {
      fraction = true;
      continue;
    }
    if (!is_digit(c)) break;
    any = true;
    if (kept < kMaxDigits) {
      d.digits = d.digits * 10 + static_cast<unsigned>(c - '0');
      if (d.digits != 0) ++kept;
      if (fraction) --d.exponent;
    } else {
      d.sticky = d.sticky || c != '0';
      if (!fraction) ++d.exponent;
    }
  }
  if (!any) return std::nullopt;
  const auto exponent = parse_exponent(text.substr(i));
  if (!exponent) return std::nullopt;
  d.exponent += *exponent;
  return d;
}

// digits × 10^exponent as an integer; nothing when it does not fit. `round`: half to even, else
// towards zero.
std::optional<std::uint64_t> scale(const Decimal& d, int exponent, bool round) {
  constexpr Wide kMax = std::numeric_limits<std::uint64_t>::max();
  Wide value = d.digits;
  for (; exponent > 0 && value != 0; --exponent) {
    if (value > kMax) return std::nullopt;
    value *= 10;
  }
  if (exponent < 0) {
    if (exponent < -kMaxDigits) return 0;  // below 1, however many digits there are
    Wide power = 1;
    for (; exponent < 0; ++exponent) power *= 10;
    const Wide rest = value % power;
    value /= power;
    const bool half = rest == power / 2;
    if (round && (rest > power / 2 || (half && (d.sticky || value % 2 == 1)))) ++value;
  }
  if (value > kMax) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (end == text.data()) return std::nullopt;
  return code == std::errc::result_out_of_range ? std::numeric_limits<std::uint64_t>::max() : value;
}

bool is_hex(std::string_view text) {
  return text.size() > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
}

}  // namespace

std::optional<std::int64_t> parse_microseconds(std::string_view text) {
  if (is_hex(text)) return std::nullopt;  // no profiler writes times so: not the 0 before the x
  const auto d = parse_decimal(text);
  if (!d) return std::nullopt;
  const auto ns = scale(*d, d->exponent + 3, /*round=*/true);
  if (!ns || *ns > static_cast<std::uint64_t>(kMaxTimeNs)) return std::nullopt;
  return d->negative ? -static_cast<std::int64_t>(*ns) : static_cast<std::int64_t>(*ns);
}

std::optional<std::uint64_t> parse_unsigned(std::string_view text) {
  if (is_hex(text)) return parse_hex(text.substr(2));
  // 20-digit values up to 2^64 are addresses: exact, so not through parse_decimal().
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  const bool plain = rest.empty() || (rest[0] != '.' && (rest[0] | 0x20) != 'e');
  if (end != text.data() && plain) {
    return code == std::errc() ? value : std::numeric_limits<std::uint64_t>::max();
  }
  const auto d = parse_decimal(text);
  if (!d) return std::nullopt;
  if (d->negative) return 0;
  return scale(*d, d->exponent, false).value_or(std::numeric_limits<std::uint64_t>::max());
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  const auto size = parse_unsigned(text);
  if (!size) return std::nullopt;
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (negative) {
    if (*size > kMax) return std::numeric_limits<std::int64_t>::min();
    return -static_cast<std::int64_t>(*size);
  }
  return static_cast<std::int64_t>(*size > kMax ? kMax : *size);
}

std::optional<double> parse_double(std::string_view text) {
  if (!text.empty() && text[0] == '+') text.remove_prefix(1);
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end == text.data() || code != std::errc() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace pyrometer::importers::kineto

#include "importers/kineto/numbers.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace pyrometer::importers::kineto {
namespace {

// What the fast form says, if it takes the text at all, must be what the general form says.
std::optional<std::int64_t> fast(const std::string& text) {
  std::int64_t ns = 0;
  const char* end = read_microseconds(text.c_str(), ns);
  if (end != text.c_str() + text.size()) return std::nullopt;
  return ns;
}

TEST(ParseMicroseconds, KeepsEveryNanosecond) {
  // 16 significant digits: a double would lose the last ones.
  EXPECT_EQ(parse_microseconds("5206689936669.059"), 5206689936669059);
  EXPECT_EQ(parse_microseconds("1669783687464181"), 1669783687464181000);
  EXPECT_EQ(parse_microseconds("0.001"), 1);
  EXPECT_EQ(parse_microseconds("183.494"), 183494);
  EXPECT_EQ(parse_microseconds("68.0"), 68000);
  EXPECT_EQ(parse_microseconds("0"), 0);
}

TEST(ParseMicroseconds, RoundsHalfToEven) {
  EXPECT_EQ(parse_microseconds("1.0005"), 1000);
  EXPECT_EQ(parse_microseconds("1.0015"), 1002);
  EXPECT_EQ(parse_microseconds("1.00050000000000000000001"), 1001);
  EXPECT_EQ(parse_microseconds("1.0004999999999999999"), 1000);
  EXPECT_EQ(parse_microseconds("0.30000000000000004"), 300);
  EXPECT_EQ(parse_microseconds("-1.0015"), -1002);
  EXPECT_EQ(parse_microseconds("1682725898236567.123456"), 1682725898236567123);
}

TEST(ParseMicroseconds, ReadsSignsAndExponents) {
  EXPECT_EQ(parse_microseconds("-3"), -3000);
  EXPECT_EQ(parse_microseconds("0x1F"), std::nullopt);
  EXPECT_EQ(parse_microseconds("+3"), 3000);
  EXPECT_EQ(parse_microseconds("1.5e3"), 1500000);
  EXPECT_EQ(parse_microseconds("1.5E+3"), 1500000);
  EXPECT_EQ(parse_microseconds("15e-1"), 1500);
  EXPECT_EQ(parse_microseconds("1.669783687464181e15"), 1669783687464181000);
  EXPECT_EQ(parse_microseconds("1e-30"), 0);
  EXPECT_EQ(parse_microseconds(".5"), 500);
  EXPECT_EQ(parse_microseconds("5."), 5000);
}

TEST(ParseMicroseconds, RefusesWhatIsNoTime) {
  for (const char* text : {"", "-", "inf", "nan", "-Infinity", "abc", ".", "1e", "1e99", "true",
                           "99999999999999999999", "4000000000000001", "[1]"}) {
    EXPECT_EQ(parse_microseconds(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_microseconds("4000000000000000"), kMaxTimeNs);
}

TEST(ReadMicroseconds, AgreesWithTheGeneralForm) {
  std::uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    std::string text = (state & 8) != 0 ? "-" : "";
    text += std::to_string((state >> 20) % (1ULL << (state % 50)));
    const std::size_t decimals = (state >> 60) % 6;
    if (decimals > 0)
      text += '.' + std::to_string(100000 + (state >> 30) % 900000).substr(0, decimals);
    const auto value = fast(text);
    if (value) {
      EXPECT_EQ(value, parse_microseconds(text)) << text;
    }
  }
  EXPECT_EQ(fast("5206689936669.059"), 5206689936669059);
  EXPECT_EQ(fast("1.000000"), 1000);
  EXPECT_EQ(fast("1.0005"), std::nullopt);
  EXPECT_EQ(fast("1e3"), std::nullopt);
  EXPECT_EQ(fast("inf"), std::nullopt);
}

TEST(ParseInteger, ClampsAndCuts) {
  EXPECT_EQ(parse_integer("-7"), -7);
  EXPECT_EQ(parse_integer("5.9"), 5);
  EXPECT_EQ(parse_integer("1e3"), 1000);
  EXPECT_EQ(parse_integer("0x10"), 16);
  EXPECT_EQ(parse_integer("18446744073709551615"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(parse_integer("-99999999999999999999"), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parse_integer("inf"), std::nullopt);
  EXPECT_EQ(parse_integer(""), std::nullopt);
  EXPECT_EQ(parse_integer("-"), std::nullopt);
}

TEST(ParseUnsigned, ReadsAddressesAbove63Bits) {
  EXPECT_EQ(parse_unsigned("18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_unsigned("9223372036854775808"), 9223372036854775808ULL);
  EXPECT_EQ(parse_unsigned("99999999999999999999"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_unsigned("0xffffffffffffffff"), std::numeric_limits<std::uint64_t>::max());
}

TEST(ParseDouble, RefusesWhatIsNotFinite) {
  EXPECT_EQ(parse_double("0.5"), 0.5);
  EXPECT_EQ(parse_double("nan"), std::nullopt);
  EXPECT_EQ(parse_double("inf"), std::nullopt);
  EXPECT_EQ(parse_double("1e999"), std::nullopt);
}

}  // namespace
}  // namespace pyrometer::importers::kineto

#include "base/json_writer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "base/utf8.h"

namespace pyrometer::base {
namespace {

template <typename Write>
std::string written(Write write) {
  std::string out;
  JsonWriter json([&](std::string_view piece) {
    out += piece;
    return true;
  });
  write(json);
  EXPECT_TRUE(json.finish());
  return out;
}

std::string text_value(std::string_view text) {
  return written([&](JsonWriter& json) { json.value(text); });
}

TEST(JsonWriter, LaysOutMembersOnLinesAndRowsInline) {
  EXPECT_EQ(written([](JsonWriter& json) {
              json.begin_object();
              json.member("a", 1);
              json.key("rows");
              json.begin_array();
              json.begin_object(JsonLayout::kInline);
              json.member("x", true);
              json.key("y");
              json.begin_array();
              json.null();
              json.value("z");
              json.end_array();
              json.end_object();
              json.end_array();
              json.key("none");
              json.begin_object();
              json.end_object();
              json.end_object();
            }),
            "{\n  \"a\": 1,\n  \"rows\": [\n    {\"x\": true, \"y\": [null, \"z\"]}\n  ],\n"
            "  \"none\": {}\n}\n");
}

TEST(JsonWriter, WritesNumbersExactly) {
  EXPECT_EQ(written([](JsonWriter& json) {
              json.begin_array(JsonLayout::kInline);
              json.value(std::numeric_limits<std::int64_t>::min());
              json.value(std::numeric_limits<std::uint64_t>::max());
              json.value(0.1);
              json.value(1.0);
              json.value(-0.0);
              json.value(1e300);
              json.value(std::optional<double>{});
              json.end_array();
            }),
            "[-9223372036854775808, 18446744073709551615, 0.1, 1, 0, 1e+300, null]\n");
}

TEST(JsonWriter, NumbersThatJsonDoesNotKnowAreNull) {
  EXPECT_EQ(written([](JsonWriter& json) {
              json.begin_array(JsonLayout::kInline);
              json.value(std::nan(""));
              json.value(std::numeric_limits<double>::infinity());
              json.value(-std::numeric_limits<double>::infinity());
              json.end_array();
            }),
            "[null, null, null]\n");
}

TEST(JsonWriter, EscapesWhatMustNotStandInAStringOrReachATerminal) {
  EXPECT_EQ(text_value("a\"b\\c\n\t\r"), "\"a\\\"b\\\\c\\n\\t\\r\"\n");
  EXPECT_EQ(text_value(std::string_view("\0\x1b[31m\x7f", 7)), "\"\\u0000\\u001b[31m\\u007f\"\n");
  EXPECT_EQ(text_value("\xC2\x9B"), "\"\\u009b\"\n");  // C1: some terminals take it for ESC [
  EXPECT_EQ(text_value("\u202Ex\u2066\u2028"), "\"\\u202ex\\u2066\\u2028\"\n");
  EXPECT_EQ(text_value("µs × 日本 🔥"), "\"µs × 日本 🔥\"\n");
}

TEST(JsonWriter, BrokenUtf8BecomesReplacementCharacters) {
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(text_value("\xFF"), '"' + bad + "\"\n");
  EXPECT_EQ(text_value("\xC0\xAF"), '"' + bad + bad + "\"\n");            // overlong
  EXPECT_EQ(text_value("\xED\xA0\x80"), '"' + bad + bad + bad + "\"\n");  // surrogate
  EXPECT_EQ(text_value("\xF0\x9F\x94"), '"' + bad + "\"\n");              // cut short
  EXPECT_EQ(text_value("\xF4\x90\x80\x80x"), '"' + bad + bad + bad + bad + "x\"\n");
  EXPECT_EQ(text_value("a\xE6\x97z"), "\"a" + bad + "z\"\n");
}

TEST(JsonWriter, AnyBytesGiveValidJsonThatReadsBackTheSame) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(random() % 40, '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 256);
    const nlohmann::json read = nlohmann::json::parse(text_value(bytes));
    std::string expected;
    for (std::string_view rest = bytes; !rest.empty();) {
      const CodePoint point = decode_utf8(rest);
      expected += point.valid ? rest.substr(0, point.length) : std::string_view("\xEF\xBF\xBD");
      rest.remove_prefix(point.length);
    }
    ASSERT_EQ(read.get<std::string>(), expected);
  }
}

TEST(JsonWriter, DoublesReadBackExactly) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 5000; ++round) {
    const std::uint64_t bits = random();
    double number = 0;
    std::memcpy(&number, &bits, sizeof number);
    if (!std::isfinite(number)) continue;
    const std::string text = written([&](JsonWriter& json) { json.value(number); });
    ASSERT_EQ(nlohmann::json::parse(text).get<double>(), number) << text;
  }
}

TEST(JsonWriter, StreamsInPiecesAndStopsWhenRefused) {
  std::size_t pieces = 0;
  std::size_t largest = 0;
  JsonWriter json([&](std::string_view piece) {
    ++pieces;
    largest = std::max(largest, piece.size());
    return pieces < 3;
  });
  json.begin_array();
  const std::string row(100, 'x');
  for (int i = 0; i < 10000; ++i) json.value(row);
  json.end_array();
  EXPECT_FALSE(json.finish());
  EXPECT_EQ(pieces, 3U);
  EXPECT_LT(largest, std::size_t{66} * 1024);
}

}  // namespace
}  // namespace pyrometer::base

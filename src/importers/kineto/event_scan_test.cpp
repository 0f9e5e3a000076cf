#include "importers/kineto/event_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/kineto/chunk_parser.h"
#include "importers/kineto/readable_text.h"
#include "importers/kineto/structural_index.h"
#include "tests/support/trace_text.h"

namespace pyrometer::importers::kineto {
namespace {

using ::testing::ElementsAreArray;

std::vector<std::uint32_t> indexed(std::string text) {
  const std::size_t size = text.size();
  text.append(64, ' ');
  StructuralIndex index;
  EXPECT_EQ(index.build(text.data(), size), StructuralIndex::Outcome::kSound) << text;
  return {index.tokens().begin(), index.tokens().end()};
}

TEST(ScanObject, FindsTheTokensThatSimdjsonFinds) {
  std::vector<std::string> objects = testing::sample_events(1);
  objects.emplace_back(R"({"a": [], "b": {}, "c": [1, -2.5e+3, true, null, "x\"y\\"], "": ""})");
  objects.emplace_back(R"({ "a" : 1 , "b":[ [ ] , { } ] })");
  for (const std::string& object : objects) {
    std::vector<std::uint32_t> tokens;
    const std::size_t begin = object.find('{');
    const ObjectScan scan = scan_object(object, begin, tokens);
    EXPECT_EQ(scan.outcome, ObjectScan::Outcome::kSound) << object;
    EXPECT_EQ(scan.stopped_at, object.size());
    EXPECT_THAT(tokens, ElementsAreArray(indexed(object)));
  }
}

TEST(ScanObject, TellsAnEarlyEndFromNonsense) {
  std::vector<std::uint32_t> tokens;
  const auto outcome = [&tokens](std::string_view text) {
    tokens.clear();
    return scan_object(text, 0, tokens).outcome;
  };
  const std::string object = R"({"a": [1, {"b": "c\"d"}], "e": true})";
  for (std::size_t size = 1; size < object.size(); ++size) {
    EXPECT_EQ(outcome(object.substr(0, size)), ObjectScan::Outcome::kEndsEarly) << size;
  }
  for (const char* broken : {R"({"a" "b"})", R"({"a": 1 2})", R"({"a": [1}})", R"({"a": x"y"})",
                             R"({:})", R"({"a": (1)})", "{\"a\": \"b\n\"c\": 1}", R"({"a": 1]})"}) {
    EXPECT_EQ(outcome(broken), ObjectScan::Outcome::kBroken) << broken;
  }
}

TEST(FindLandmark, NextEventOrEndOfList) {
  const std::string text =
      R"(junk {x} [1] "args": {"name": "no"}, {"q": 1} {"ph": "X", "args": {"name": "n"}} ], "key": 1)";
  const Landmark event = find_landmark(text, 0, false);
  EXPECT_EQ(event.kind, Landmark::Kind::kEvent);
  EXPECT_EQ(event.at, text.find("{\"ph\""));
  const Landmark end = find_landmark(text, event.at + 1, false);
  EXPECT_EQ(end.kind, Landmark::Kind::kListEnd);
  EXPECT_EQ(end.at, text.find("], \"key\""));
  EXPECT_EQ(find_landmark(text, end.at + 1, false).kind, Landmark::Kind::kNone);
  // At the end of the text, a closing bracket is enough.
  EXPECT_EQ(find_landmark("{x} ]\n", 0, false).kind, Landmark::Kind::kNone);
  EXPECT_EQ(find_landmark("{x} ]\n", 0, true).kind, Landmark::Kind::kListEnd);
}

TEST(GuessCut, BehindTheLastWholeEvent) {
  const std::string events = R"({"ph": 1, "args": {"a": 1}}, {"ph": "a}, {b"}, {"ph)";
  EXPECT_EQ(guess_cut(events), events.rfind(", {\"ph"));
  EXPECT_EQ(guess_cut(R"({"ph": 1})"), 0U);
  EXPECT_EQ(guess_cut(""), 0U);
  EXPECT_EQ(guess_cut(R"({"ph": 1} ] , "x)"), 11U);
  EXPECT_EQ(guess_cut("{\"ph\": 1}\n{\"ph\": 2}"), 9U);
}

TEST(MendEvent, ReadsWhatCanBeRead) {
  const auto mended = mend_event(
      R"({"ph": "X", "cat": "kernel", "name": "a "b", c", "pid": 0, [W1] oops
          "tid": 7, "ts": 1.5, "dur": 2, "args": {"correlation": 5, "grid": [1, 2, 3], "x": (, "device": 1}},)");
  ASSERT_TRUE(mended.has_value());
  EXPECT_EQ(*mended,
            R"({"cat": "kernel", "dur": 2, "name": "a \"b\", c", "ph": "X", "pid": 0, "tid": 7, )"
            R"("ts": 1.5, "args": {"correlation": 5, "device": 1, "grid": [1, 2, 3]}})");
}

TEST(MendEvent, GivesUpWithoutKindNameOrTime) {
  EXPECT_FALSE(mend_event(R"({"ph": "X", "name": "a", "dur": 1)").has_value());
  EXPECT_FALSE(mend_event(R"({"ph": "X", "ts": 1, "dur": 1)").has_value());
  EXPECT_FALSE(mend_event(R"({"name": "a", "ts": 1)").has_value());
  EXPECT_FALSE(mend_event("{").has_value());
}

TEST(MendEvent, TakesLinearTime) {
  // Every quote could begin a key or a string that never ends.
  std::string text = "{";
  while (text.size() < 60000) text += R"("name": "x )";
  EXPECT_FALSE(mend_event(text).has_value());
}

TEST(ReadableText, UnescapesAndMends) {
  TextFlaws flaws;
  EXPECT_EQ(readable_text(R"(a\"\\\/\u0041\ud83d\ude00)", flaws), "a\"\\/A\xF0\x9F\x98\x80");
  EXPECT_FALSE(flaws.any());
  EXPECT_EQ(readable_text(R"(a\tb\u001b)", flaws), "a b ");
  EXPECT_FALSE(flaws.any());
  EXPECT_EQ(readable_text(R"(C:\new\Users)", flaws), R"(C:\new\Users)");
  EXPECT_TRUE(flaws.invalid_escape);
  EXPECT_EQ(readable_text("a\nb\x7F", flaws), "a b ");
  EXPECT_TRUE(flaws.control_characters);
  EXPECT_EQ(readable_text("\xE2\x82z\xC0\xAF", flaws), "\xEF\xBF\xBDz\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_TRUE(flaws.invalid_utf8);
  EXPECT_EQ(readable_text(R"(\)", flaws), R"(\)");
  EXPECT_EQ(readable_text(R"(\u12)", flaws), R"(\u12)");
}

}  // namespace
}  // namespace pyrometer::importers::kineto

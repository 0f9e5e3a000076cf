#include "tune/space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tune/command_template.h"
#include "verify/random.h"

namespace pyrometer::tune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> values(const std::string& text) {
  const auto space = parse_space("x=" + text);
  EXPECT_TRUE(space) << text << ": " << (space ? "" : space.error().to_string());
  return space ? space->dimensions.front().values : std::vector<std::string>();
}

std::string error(const std::string& text) {
  const auto space = parse_space(text);
  EXPECT_FALSE(space) << text;
  return space ? "" : space.error().to_string();
}

TEST(Space, Lists) {
  EXPECT_THAT(values("32,64,128"), ElementsAre("32", "64", "128"));
  EXPECT_THAT(values(" bf16 , fp32 "), ElementsAre("bf16", "fp32"));
  EXPECT_THAT(values("'a,b;c',\"d e\",''"), ElementsAre("a,b;c", "d e", ""));
  EXPECT_THAT(values("../data,/data"), ElementsAre("../data", "/data"));
  EXPECT_THAT(values("auto,0..2"), ElementsAre("auto", "0", "1", "2"));
}

TEST(Space, Ranges) {
  EXPECT_THAT(values("2..5"), ElementsAre("2", "3", "4", "5"));
  EXPECT_THAT(values("2..9:3"), ElementsAre("2", "5", "8"));
  EXPECT_THAT(values("-1..1"), ElementsAre("-1", "0", "1"));
  EXPECT_THAT(values("7..7"), ElementsAre("7"));
  EXPECT_THAT(values("8..100 log"), ElementsAre("8", "16", "32", "64", "100"));
  EXPECT_THAT(values("1..64:4 log"), ElementsAre("1", "4", "16", "64"));
  EXPECT_THAT(values("1..10:1.5 log"), ElementsAre("1", "2", "3", "5", "8", "10"));
  EXPECT_THAT(values("0.0..0.5:0.1"), ElementsAre("0", "0.1", "0.2", "0.3", "0.4", "0.5"));
  const auto reals = values("1e-4..1e-1 log");
  EXPECT_EQ(reals.size(), 101U);
  EXPECT_EQ(reals.front(), "0.0001");
  EXPECT_EQ(reals.back(), "0.1");
  EXPECT_EQ(values("0.1..0.9").size(), 101U);
}

// Numbers are put in order, but the first as written stays the one to compare with.
TEST(Space, NumbersInOrder) {
  const auto space = parse_space("batch=64,32,128; mode=b,a");
  ASSERT_TRUE(space);
  EXPECT_THAT(space->dimensions[0].values, ElementsAre("32", "64", "128"));
  EXPECT_TRUE(space->dimensions[0].ordered());
  EXPECT_FALSE(space->dimensions[1].ordered());
  EXPECT_EQ(space->text_of(space->first()), "batch=64 mode=b");
  EXPECT_EQ(space->size(), 6U);
  EXPECT_EQ(space->text_of(space->point(3)), "batch=64 mode=a");
}

TEST(Space, ErrorsNameTheCharacter) {
  EXPECT_THAT(error(""), HasSubstr("character 1 of the space: there is no dimension"));
  EXPECT_THAT(error("batch"), HasSubstr("character 6 of the space: no = after batch"));
  EXPECT_THAT(error("a=1; 2=3"), HasSubstr("character 6 of the space: no name"));
  EXPECT_THAT(error("a=1,,2"), HasSubstr("character 5 of the space: no value for a"));
  EXPECT_THAT(error("a=1;b=2;a=3"), HasSubstr("character 9 of the space: a is given twice"));
  EXPECT_THAT(error("a=1,1"), HasSubstr("character 5 of the space: 1 is given twice for a"));
  EXPECT_THAT(error("a=1,1.0"), HasSubstr("are the same number"));
  EXPECT_THAT(error("a=1..x"), HasSubstr("character 6 of the space: the end of a range"));
  EXPECT_THAT(error("a=5..1"), HasSubstr("character 3 of the space: the range ends below"));
  EXPECT_THAT(error("a=1..5:0"), HasSubstr("character 8 of the space: a step that is no number"));
  EXPECT_THAT(error("a=1..8:1 log"), HasSubstr("a step that is no number above 1"));
  EXPECT_THAT(error("a=0..8 log"), HasSubstr("a log range from 0 or less"));
  EXPECT_THAT(error("a=1..1000000"), HasSubstr("too many values"));
  EXPECT_THAT(error("a='b"), HasSubstr("does not end with its quote"));
  EXPECT_THAT(error("env:=1"), HasSubstr("character 5 of the space: no name"));
}

// Whatever the text: a space that keeps its promises, or an error that names a character of it.
TEST(Space, AnyText) {
  const std::string pieces[] = {"a",   "b",  "env:", "=",  ",",    ";",  "..", ":",   " log", "1",
                                "-2",  "64", "0.5",  "1e", "1e-3", "'",  "\"", " ",   "nan",  "inf",
                                "999", ".",  "x",    "-",  "{",    "\n", "\0", "1e99"};
  verify::Random random(7);
  int sound = 0;
  for (int i = 0; i < 30'000; ++i) {
    std::string text = random.below(2) == 0 ? "a=" : "";
    for (std::size_t n = random.below(10); n > 0; --n) {
      text += pieces[random.below(std::size(pieces))];
    }
    const auto space = parse_space(text);
    if (!space) {
      EXPECT_EQ(space.error().kind, base::ErrorKind::kUsage);
      EXPECT_THAT(space.error().message, HasSubstr("character "));
      const auto at = std::stoul(space.error().message.substr(10));
      EXPECT_LE(at, text.size() + 1) << text;
      continue;
    }
    ++sound;
    for (const Dimension& one : space->dimensions) {
      ASSERT_FALSE(one.values.empty());
      EXPECT_LE(one.values.size(), kMostValues);
      EXPECT_LT(one.first, one.values.size());
      EXPECT_TRUE(std::is_sorted(one.numbers.begin(), one.numbers.end()));
      EXPECT_TRUE(one.numbers.empty() || one.numbers.size() == one.values.size());
    }
    EXPECT_EQ(space->text_of(space->point(0)).empty(), space->text_of(space->first()).empty());
  }
  EXPECT_GT(sound, 1000);
}

TEST(Space, Point) {
  const auto space = parse_space("batch=32,64; mode=a,b");
  ASSERT_TRUE(space);
  const auto point = parse_point("mode=b", *space);
  ASSERT_TRUE(point);
  EXPECT_EQ(space->text_of(*point), "batch=32 mode=b");
  EXPECT_THAT(parse_point("mode=c", *space).error().message, HasSubstr("c is no value of mode"));
  EXPECT_THAT(parse_point("size=1", *space).error().message, HasSubstr("size is no dimension"));
  EXPECT_THAT(parse_point("batch=32,64", *space).error().message, HasSubstr("more than one"));
}

TEST(CommandTemplate, PutsValuesInTheirPlaces) {
  const auto space =
      parse_space("batch=8,16; loader.workers=2..4; env:OMP_NUM_THREADS=1,2; power_limit=200,300");
  ASSERT_TRUE(space);
  const auto made = CommandTemplate::make({"train", "--b={batch}/{batch}", "{{x}}", ""}, *space);
  ASSERT_TRUE(made) << made.error().to_string();
  const Trial trial = made->fill(*space, {1, 2, 0, 1});
  EXPECT_THAT(trial.command, ElementsAre("train", "--b=16/16", "{x}", ""));
  ASSERT_EQ(trial.overrides.size(), 1U);
  EXPECT_EQ(model::text_of(trial.overrides), "loader.workers=4");
  EXPECT_THAT(trial.environment, ElementsAre("OMP_NUM_THREADS=1"));
  EXPECT_EQ(trial.power_limit_w, 300);
  EXPECT_TRUE(made->reaches_program(0));
  EXPECT_FALSE(made->reaches_program(1));
}

TEST(CommandTemplate, Refuses) {
  const auto message = [](const std::string& space_text, const std::string& word) {
    const auto space = parse_space(space_text);
    const auto made = CommandTemplate::make({"train", word}, *space);
    EXPECT_FALSE(made) << space_text << " " << word;
    return made ? "" : made.error().to_string();
  };
  EXPECT_THAT(message("batch=1,2", "x"),
              HasSubstr("batch of the space (character 1) is used nowhere"));
  EXPECT_THAT(message("batch=1,2", "{batch}{b}"), HasSubstr("{b} in the command is no dimension"));
  EXPECT_THAT(message("batch=1,2", "{batch}{"), HasSubstr("opens a brace that holds no name"));
  EXPECT_THAT(message("batch=1,2", "{\"a\": 1}"), HasSubstr("Write {{ for a brace"));
  EXPECT_THAT(message("loader.workers=1,no", "x"), HasSubstr("does not take no"));
  EXPECT_THAT(message("power_limit=0,1", "x"), HasSubstr("no number of watts"));
}

TEST(SampleCount, Products) {
  const auto space = parse_space("batch=8,16; accumulation=1,4; mode=a,b");
  const auto count = SampleCount::parse("{batch}*{accumulation}*2", *space);
  ASSERT_TRUE(count);
  EXPECT_EQ(count->of(*space, {1, 1, 0}), 128);
  EXPECT_EQ(SampleCount::parse("64", *space)->of(*space, {0, 0, 0}), 64);
  for (const char* text : {"", "{batch", "{mode}", "{b}", "0", "2**3", "-1"}) {
    EXPECT_FALSE(SampleCount::parse(text, *space)) << text;
  }
}

}  // namespace
}  // namespace pyrometer::tune

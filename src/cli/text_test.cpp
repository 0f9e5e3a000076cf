#include "cli/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace pyrometer::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Wrap, BreaksAtSpaces) {
  EXPECT_THAT(wrap("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("one two three", 13), ElementsAre("one two three"));
  EXPECT_THAT(wrap("  one   two ", 80), ElementsAre("one two"));
  EXPECT_THAT(wrap("", 80), IsEmpty());
}

TEST(Wrap, LongWordsStandAlone) {
  EXPECT_THAT(wrap("a incomprehensible b", 5), ElementsAre("a", "incomprehensible", "b"));
}

TEST(Closest, FindsTheTypo) {
  const std::vector<std::string> names = {"--price", "--output", "--json"};
  EXPECT_EQ(closest("--jsn", names), "--json");       // left out
  EXPECT_EQ(closest("--prices", names), "--price");   // added
  EXPECT_EQ(closest("--outpit", names), "--output");  // changed
  EXPECT_EQ(closest("--pirce", names), "--price");    // swapped
}

TEST(Closest, GivesNothingForAnotherWord) {
  const std::vector<std::string> names = {"--price", "--output", "--json"};
  EXPECT_EQ(closest("--threads", names), "");
  EXPECT_EQ(closest("x", names), "");
  EXPECT_EQ(closest("", names), "");
  EXPECT_EQ(closest("--jsn", {}), "");
}

}  // namespace
}  // namespace pyrometer::cli

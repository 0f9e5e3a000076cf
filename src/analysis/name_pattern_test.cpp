#include "analysis/name_pattern.h"

#include <gtest/gtest.h>

namespace pyrometer::analysis {
namespace {

TEST(NamePattern, PlainTextIsASubstring) {
  EXPECT_TRUE(pattern_occurs("gemm", "ampere_sgemm_128x64"));
  EXPECT_FALSE(pattern_occurs("gemv", "ampere_sgemm_128x64"));
  EXPECT_TRUE(pattern_occurs("", "anything"));
  EXPECT_FALSE(pattern_occurs("longer than the text", "longer"));
}

TEST(NamePattern, AnchorsHoldEnds) {
  EXPECT_TRUE(pattern_occurs("^nccl", "ncclKernel"));
  EXPECT_FALSE(pattern_occurs("^nccl", "my_nccl"));
  EXPECT_TRUE(pattern_occurs("_sum$", "row_sum"));
  EXPECT_FALSE(pattern_occurs("_sum$", "row_sum_2"));
  EXPECT_TRUE(pattern_occurs("^abc$", "abc"));
  EXPECT_FALSE(pattern_occurs("^abc$", "abcabc"));
}

TEST(NamePattern, StarSpansAnything) {
  EXPECT_TRUE(pattern_occurs("cijk_*_mi#", "cijk_alik_bljk_mt32_mi16x16x1"));
  EXPECT_FALSE(pattern_occurs("cijk_*_mi#", "cijk_alik_bljk_mt32_miav0"));
  EXPECT_TRUE(pattern_occurs("a*b", "ab"));
  EXPECT_FALSE(pattern_occurs("b*a", "ab"));
  EXPECT_TRUE(pattern_occurs("^a*c$", "abcbc"));
  EXPECT_FALSE(pattern_occurs("ab*bc$", "abc"));  // pieces do not overlap
}

TEST(NamePattern, HashIsOneDigit) {
  EXPECT_TRUE(pattern_occurs("^nvjet_sm##_t", "nvjet_sm90_tst_128x256"));
  EXPECT_FALSE(pattern_occurs("^nvjet_sm##_t", "nvjet_sm100_tst_128x256"));
  EXPECT_TRUE(pattern_occurs("sm#", "smsm9"));
  EXPECT_FALSE(pattern_occurs("x#", "x"));
}

TEST(NamePattern, TrigramFilterNeverHidesAMatch) {
  const std::string_view text = "void at::native::vectorized_elementwise_kernel<4, float>";
  const TrigramSet trigrams(text);
  for (const char* pattern : {"^void", "at::native", "elementwise*float", "<#, ", "at", "", ">$"}) {
    EXPECT_EQ(NamePattern(pattern).occurs(text, trigrams), pattern_occurs(pattern, text))
        << pattern;
    EXPECT_TRUE(pattern_occurs(pattern, text)) << pattern;
  }
}

}  // namespace
}  // namespace pyrometer::analysis

#include "analysis/confidence.h"

#include <gtest/gtest.h>

#include <vector>

namespace pyrometer::analysis {
namespace {

TEST(Confidence, QuantilesAreThoseOfTables) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963985, 1e-8);
  EXPECT_NEAR(normal_quantile(0.001), -3.090232306, 1e-8);
  EXPECT_EQ(normal_quantile(0.5), 0);
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.70620474, 1e-7);
  EXPECT_NEAR(student_t_quantile(0.975, 2), 4.30265273, 1e-7);
  EXPECT_NEAR(student_t_quantile(0.975, 30), 2.04227246, 1e-7);
  EXPECT_NEAR(student_t_quantile(0.995, 4.5), 4.29, 0.02);
  EXPECT_NEAR(student_t_quantile(0.05, 10), -1.81246112, 1e-7);
  EXPECT_NEAR(student_t_quantile(0.9995, 3), 12.92397864, 1e-6);
}

TEST(Confidence, MiddleOfFewValuesIsTheirMean) {
  const Middle middle = robust_middle(std::vector<double>{1, 2, 3});
  EXPECT_NEAR(middle.value, 2, 1e-12);
  EXPECT_NEAR(middle.high - middle.value, 4.30265 / std::sqrt(3), 1e-4);
}

TEST(Confidence, MiddleOfManyIsRobust) {
  std::vector<double> values;
  for (int i = 0; i < 21; ++i) values.push_back(i);
  values.push_back(1e6);
  const Middle middle = robust_middle(values);
  EXPECT_NEAR(middle.value, 10.5, 0.6);
  EXPECT_LT(middle.high, 15);
  EXPECT_GT(middle.low, 6);
  const Middle wide = robust_middle(values, 2);
  EXPECT_NEAR(wide.high - wide.value, 2 * (middle.high - middle.value), 1e-9);
}

}  // namespace
}  // namespace pyrometer::analysis

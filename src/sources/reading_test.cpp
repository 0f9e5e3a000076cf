#include "sources/reading.h"

#include <gtest/gtest.h>

#include <set>

#include "sources/rate.h"

namespace pyrometer::sources {
namespace {

TEST(Value, IsANumberATextOrAReason) {
  EXPECT_EQ(*Value::number(0).number(), 0);
  EXPECT_FALSE(Value::number(0).is_missing());
  EXPECT_EQ(*Value::text("x").text(), "x");
  const Value missing = Value::missing(Absence::kNoPermission, "run as root");
  EXPECT_EQ(missing.number(), nullptr);
  EXPECT_EQ(missing.reason(), "no permission: run as root");
  EXPECT_EQ(Value::missing(Absence::kNotYet).reason(), "needs a second sample");
  EXPECT_EQ(Value::number(3).reason(), "");
}

TEST(Rate, NeedsTwoSamplesAndNeverGoesBack) {
  Rate rate;
  EXPECT_EQ(rate.update(100, 1'000'000'000).gap()->absence, Absence::kNotYet);
  EXPECT_EQ(*rate.update(150, 3'000'000'000, 2).number(), 50);
  EXPECT_EQ(*rate.update(150, 4'000'000'000).number(), 0);
  EXPECT_EQ(rate.update(10, 5'000'000'000).gap()->absence, Absence::kNotAvailable);
  EXPECT_EQ(*rate.update(20, 6'000'000'000).number(), 10);
  EXPECT_EQ(rate.update(30, 6'000'000'000).gap()->absence, Absence::kNotYet) << "no time passed";
}

TEST(Catalog, IsConsistent) {
  std::set<std::string_view> ids;
  for (std::size_t i = 0; i < kMetricCount; ++i) {
    const MetricInfo& metric = metric_info(static_cast<MetricId>(i));
    EXPECT_TRUE(ids.insert(metric.id).second) << metric.id;
    EXPECT_EQ(metric.kind == MetricKind::kText, metric.unit == "text") << metric.id;
    EXPECT_FALSE(metric.help.empty()) << metric.id;
    EXPECT_NE(metric.dcgm_scale, 0) << metric.id;
  }
}

}  // namespace
}  // namespace pyrometer::sources

#include "output/exposition.h"

#include <gtest/gtest.h>

#include <limits>

namespace pyrometer::output {
namespace {

TEST(LabelsTest, EscapesWhatTheFormatNeeds) {
  Labels labels;
  labels.add("a", "plain").add("b", "q\"b\\n\nend").add("none", "").add("c", "\xFF|\xC3\xA9");
  EXPECT_EQ(labels.text(), "a=\"plain\",b=\"q\\\"b\\\\n\\nend\",c=\"\xEF\xBF\xBD|\xC3\xA9\"");
}

TEST(ExpositionTest, WritesFamiliesThatHaveSamples) {
  Exposition out(ExpositionFormat::kText);
  out.family("empty", MetricType::kGauge, "Never seen.");
  out.family("x_total", MetricType::kCounter, "Line\none \"two\" \\.");
  Labels gpu;
  gpu.add("gpu", "0");
  out.sample(gpu, 3);
  out.sample({}, 0.41000000000000003);
  out.sample({}, std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(out.finish(),
            "# HELP x_total Line\\none \"two\" \\\\.\n# TYPE x_total counter\n"
            "x_total{gpu=\"0\"} 3\nx_total 0.41\n");
}

TEST(ExpositionTest, OpenMetricsNamesFamiliesAndEnds) {
  Exposition out(ExpositionFormat::kOpenMetrics);
  out.family("e_joules_total", MetricType::kCounter, "Energy.", "joules");
  out.sample({}, 1e18);
  out.family("DCGM_X", MetricType::kForeignCounter, "Says \"x\".");
  out.sample({}, -1);
  EXPECT_EQ(out.finish(),
            "# HELP e_joules Energy.\n# TYPE e_joules counter\n# UNIT e_joules joules\n"
            "e_joules_total 1e+18\n"
            "# HELP DCGM_X Says \\\"x\\\".\n# TYPE DCGM_X unknown\nDCGM_X -1\n# EOF\n");
}

TEST(ExpositionTest, SummariesHaveASumAndACount) {
  Exposition out(ExpositionFormat::kText);
  out.family("d_seconds", MetricType::kSummary, "Time.");
  out.sample("_sum", {}, 0.25);
  out.sample("_count", {}, 2);
  EXPECT_EQ(out.finish(),
            "# HELP d_seconds Time.\n# TYPE d_seconds summary\nd_seconds_sum 0.25\n"
            "d_seconds_count 2\n");
}

}  // namespace
}  // namespace pyrometer::output

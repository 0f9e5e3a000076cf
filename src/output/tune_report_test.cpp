#include "output/tune_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "output/html_document.h"
#include "output/svg_chart.h"

namespace pyrometer::output {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

// Three sizes of batch on a GPU, of which one is too large; a hostile name.
tune::TuneResult sample() {
  tune::TuneResult result;
  result.space = *tune::parse_space("batch=8,16,32; mode='<b>&\"\x01',plain");
  result.first = result.space.first();
  result.file = "r.pyro";
  for (std::uint32_t batch = 0; batch < 2; ++batch) {
    for (std::uint32_t mode = 0; mode < 2; ++mode) {
      tune::Measurement one{.point = {batch, mode}, .rung = 2, .steps = 40, .step_ns = 1e7};
      one.samples_per_step = 8 << batch;
      one.gpus = 1;
      one.usd_per_gpu_hour = 2.5;
      one.joules_per_step = 3.0 + mode;
      one.peak_memory = 1e9 * (1 + batch) + mode;
      result.all.push_back(one);
    }
  }
  result.all.push_back(
      {.point = {2, 0}, .outcome = tune::Outcome::kOutOfMemory, .reason = "out of memory: <full>"});
  result.all.push_back({.point = {2, 1}, .outcome = tune::Outcome::kExcluded, .reason = "by that"});
  result.best = tune::Point{1, 0};
  result.best_ratio = {.value = 0.5, .low = 0.48, .high = 0.53, .known = true};
  result.verdict = tune::Verdict::kBetter;
  result.finals.push_back({.point = *result.best,
                           .verdict = tune::FinalVerdict::kBetter,
                           .ratio = result.best_ratio,
                           .pairs = 3});
  result.command = "python train.py 16";
  tune::arrange(result);
  return result;
}

std::string text_of(const tune::TuneResult& result) {
  std::string text;
  write_text_document(tune_document(result), {.width = 100}, [&text](std::string_view part) {
    text += part;
    return true;
  });
  return text;
}

TEST(TuneReport, SaysWhatIsBest) {
  const tune::TuneResult result = sample();
  const std::string text = text_of(result);
  EXPECT_THAT(text, HasSubstr("-50.0% time per sample (-52.0 to -47.0%) against batch=8"));
  EXPECT_THAT(text, HasSubstr("800 samples per second"));
  EXPECT_THAT(text, HasSubstr("5 of 6 configurations in 5 trials, 1 excluded for want of memory"));
  EXPECT_THAT(text, HasSubstr("Throughput against peak memory"));
  EXPECT_THAT(text, HasSubstr("Throughput against USD/1M samples"));
  EXPECT_THAT(text, HasSubstr("Throughput against J/sample"));
  EXPECT_THAT(text, HasSubstr("out of memory: <full>"));
  EXPECT_THAT(text, HasSubstr("python train.py 16"));
}

TEST(TuneReport, EveryVerdictIsASentence) {
  tune::TuneResult result = sample();
  result.verdict = tune::Verdict::kNoFirst;
  EXPECT_THAT(tune_verdict(result), HasSubstr("nothing to compare it with"));
  result.best.reset();
  result.verdict = tune::Verdict::kNothing;
  EXPECT_THAT(tune_verdict(result), HasSubstr("Nothing to gain: all 5 others are as good as"));
  result.verdict = tune::Verdict::kUndecided;
  EXPECT_THAT(tune_verdict(result), HasSubstr("beyond chance"));
  result.interrupted = true;
  result.verdict = tune::Verdict::kNothing;
  EXPECT_THAT(tune_verdict(result), HasSubstr("was found by then"));
  result.tried.clear();
  result.verdict = tune::Verdict::kNoneWorks;
  EXPECT_THAT(tune_verdict(result), HasSubstr("Interrupted"));
}

TEST(TuneReport, Json) {
  std::string text;
  ASSERT_TRUE(write_tune_json(sample(), [&text](std::string_view part) {
    text += part;
    return true;
  }));
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["schema"], "pyrometer.tune/1");
  EXPECT_EQ(json["best"]["values"]["batch"], "16");
  EXPECT_EQ(json["configurations"].size(), 6U);
  EXPECT_EQ(json["configurations"][0]["samples_per_second"], 1600);
  EXPECT_EQ(json["configurations"][5]["outcome"], "excluded");
  EXPECT_TRUE(json["configurations"][5]["length"].is_null());
  EXPECT_EQ(json["fronts"].size(), 3U);
  EXPECT_EQ(json["fronts"][0]["against"], "peak_memory_bytes");
  EXPECT_EQ(json["fronts"][0]["configurations"].size(), 2U);
}

// Nothing of a name becomes an element, an attribute or a control character.
TEST(TuneReport, PagesAreSafe) {
  const tune::TuneResult result = sample();
  const std::string chart = tune_chart(result);
  std::string page;
  ASSERT_TRUE(write_html_document(tune_document(result), chart, [&page](std::string_view part) {
    page += part;
    return true;
  }));
  for (const std::string& text : {chart, page}) {
    EXPECT_THAT(text, Not(HasSubstr("<b>")));
    EXPECT_THAT(text, HasSubstr("&lt;b&gt;&amp;"));
    EXPECT_EQ(text.find('\x01'), text.npos);
    EXPECT_EQ(text.find("nan"), text.npos);
  }
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_EQ(tune_chart(tune::TuneResult{}), "");
}

TEST(Scatter, StandsInItsFrame) {
  Scatter scatter{.x_title = "memory",
                  .y_title = "speed",
                  .x_low = "1",
                  .x_high = "9",
                  .y_low = "10",
                  .y_high = "1000"};
  EXPECT_TRUE(text_scatter(scatter, 60).empty());
  scatter.points = {{.x = 1, .y = 10, .is_first = true},
                    {.x = 9, .y = 1000, .on_front = true, .is_best = true},
                    {.x = 9, .y = 1000, .on_front = true},
                    {.x = 5, .y = 400}};
  const auto lines = text_scatter(scatter, 60);
  ASSERT_GT(lines.size(), 12U);
  EXPECT_EQ(lines[1].back(), '#');  // the foremost of two, at the right end of the top
  EXPECT_EQ(lines[1].size(), 61U - 2U);
  EXPECT_THAT(lines[12], HasSubstr("10 |o"));
  for (const std::string& line : lines) EXPECT_LE(line.size(), 72U);
  // A single point, and points that are all alike, have no span.
  scatter.points = {{.x = 3, .y = 3}, {.x = 3, .y = 3}};
  EXPECT_FALSE(text_scatter(scatter, 60).empty());
  SvgChart chart;
  chart.add_scatter("t", scatter);
  EXPECT_THAT(chart.finish(), Not(HasSubstr("nan")));
}

}  // namespace
}  // namespace pyrometer::output

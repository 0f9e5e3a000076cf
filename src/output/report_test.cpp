// The reports as a whole, on hand-made jobs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>

#include "output/display.h"
#include "output/registry.h"
#include "output/waterfall_view.h"
#include "tests/support/sample_analysis.h"

namespace pyrometer::output {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::SampleJob;

std::string rendered(const SampleJob& sample, std::string_view format, const TextStyle& style = {},
                     std::optional<cost::Price> price = {}) {
  return render(*find_format(format), {sample.timeline, sample.job, sample.diagnosis, price},
                style);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<SampleJob> all_samples() {
  std::vector<SampleJob> samples;
  samples.push_back(testing::sample_job());
  samples.push_back(testing::sample_job({.ranks = 4}));
  samples.push_back(testing::sample_job({.ranks = 24, .steps = 3}));
  samples.push_back(testing::sample_job({.findings = false}));
  samples.push_back(testing::sample_job({.ranks = 2, .hostile = true}));
  samples.push_back(testing::empty_job());
  samples.push_back(testing::host_only_job());
  return samples;
}

TEST(TextReport, FitsEveryWidthAndHoldsNoControlCharacters) {
  for (const SampleJob& sample : all_samples()) {
    for (const int width : {20, 40, 60, 80, 100, 160, 300}) {
      for (const bool verbose : {false, true}) {
        for (const bool unicode : {false, true}) {
          TextStyle style{.unicode = unicode, .width = width, .verbose = verbose};
          const std::string text = rendered(sample, "text", style, cost::Price{2.5, "--price"});
          for (const std::string& line : lines_of(text)) {
            EXPECT_EQ(printable(line, unicode), line);
            EXPECT_LE(display_width(line), std::clamp(width, 40, 160)) << line;
            EXPECT_FALSE(line.ends_with(' ')) << line;
          }
        }
      }
    }
  }
}

TEST(TextReport, ColourChangesNothingButColour) {
  const std::regex escapes("\x1b\\[[0-9;]*m");
  for (const SampleJob& sample : all_samples()) {
    const std::string colored = rendered(sample, "text", {.color = true, .verbose = true});
    EXPECT_EQ(std::regex_replace(colored, escapes, ""),
              rendered(sample, "text", {.verbose = true}));
  }
}

TEST(TextReport, SharesOfTheWaterfallAddUpToOneHundred) {
  for (const SampleJob& sample : all_samples()) {
    const std::string text = rendered(sample, "text");
    const std::regex row("^ {4}\\S.*? +(\\d+)\\.(\\d)%");
    const std::regex half("^  GPU (busy|idle) +(\\d+)\\.(\\d)%");
    int rows = 0;
    int halves = 0;
    bool inside = false;
    for (const std::string& line : lines_of(text)) {
      if (line.starts_with("Where the GPU time goes")) inside = true;
      if (line.empty()) inside = false;
      std::smatch match;
      if (inside && std::regex_search(line, match, row))
        rows += std::stoi(match[1]) * 10 + std::stoi(match[2]);
      if (inside && std::regex_search(line, match, half))
        halves += std::stoi(match[2]) * 10 + std::stoi(match[3]);
    }
    const bool any = model::total(sample.job.causes) > 0;
    EXPECT_EQ(rows, any ? 1000 : 0) << text;
    EXPECT_EQ(halves, any ? 1000 : 0) << text;
  }
}

TEST(TextReport, SaysWhatMatters) {
  const std::string text = rendered(testing::sample_job(), "text", {}, cost::Price{2.5, "--price"});
  EXPECT_THAT(text, HasSubstr("The GPU waits for the data loader 60% of the time"));
  EXPECT_THAT(text, HasSubstr("1 × NVIDIA H200 · rank 0 · 12 steps · 372 ms window"));
  EXPECT_THAT(text, HasSubstr("31.0 ms as recorded, 28.4 ms (27.9–29.1 ms) without the profiler"));
  EXPECT_THAT(text, HasSubstr("1. CRITICAL: The data loader runs in the training process"));
  EXPECT_THAT(text,
              HasSubstr("28.4 ms → 11.0 ms per step (10.1–13.2 ms), 2.6× as fast (2.2–2.8×)"));
  EXPECT_THAT(text, HasSubstr("54–64% of the step: $32–39 a day on 1 GPU"));
  EXPECT_THAT(text, HasSubstr("All fixes together"));
  EXPECT_THAT(text, HasSubstr("DATA LOST 3 × negative_duration, first at byte 4711"));
  EXPECT_THAT(text, HasSubstr("3 checks not judged"));
  EXPECT_THAT(text, HasSubstr("2 more findings"));
  EXPECT_THAT(text, HasSubstr("unchanged: 1.6% off the recorded time, so the replay stands"));
  EXPECT_THAT(text, HasSubstr("Outside the steps lie 60.0 ms of the 432 ms with GPU activity"));
  EXPECT_THAT(text, HasSubstr("      likely checkpoint            2.4%"));
}

// A recording is no trace, and no profiler was there to be taken out.
TEST(TextReport, SpeaksOfRecordingsAsSuch) {
  const SampleJob sample = testing::recorded_job();
  for (const std::string_view format : {"text", "md"}) {
    const std::string text = rendered(sample, format, {.width = 160, .verbose = true});
    for (const std::string_view word : {"trace.json", "rofiler", "window ·", "of 1 rank"}) {
      EXPECT_THAT(text, Not(HasSubstr(std::string(word))));
    }
    EXPECT_THAT(text, HasSubstr("0.65% of the run. Watched steps take 1.20% longer"));
    EXPECT_THAT(text, HasSubstr("12 of 40 steps · 372 ms of 1.77 s analysed"));
  }
}

TEST(TextReport, WithoutAPriceThereIsNoMoney) {
  for (const SampleJob& sample : all_samples()) {
    for (const std::string_view format : {"text", "md"}) {
      EXPECT_THAT(rendered(sample, format, {.verbose = true}), Not(HasSubstr("$")));
    }
    EXPECT_THAT(rendered(sample, "json"), HasSubstr("\"cost\": null"));
  }
}

TEST(TextReport, VerboseShowsEveryFinding) {
  const SampleJob sample = testing::sample_job();
  EXPECT_THAT(rendered(sample, "text"), Not(HasSubstr("Note 4")));
  EXPECT_THAT(rendered(sample, "text", {.verbose = true}), HasSubstr("Note 4"));
  EXPECT_THAT(rendered(sample, "text", {.max_findings = 0}), HasSubstr("7 more findings"));
}

TEST(MarkdownReport, NamesCannotBecomeMarkup) {
  const std::string text = rendered(testing::sample_job({.ranks = 2, .hostile = true}), "md");
  for (const std::string& line : lines_of(text)) EXPECT_EQ(printable(line, true), line);
  // Outside code, where nothing is acted on.
  const std::string prose = std::regex_replace(text, std::regex("`[^`\n]*`"), "CODE");
  EXPECT_THAT(prose, Not(HasSubstr("<b>")));
  EXPECT_THAT(prose, Not(HasSubstr("@user")));
  EXPECT_THAT(prose, Not(HasSubstr("[x](https")));
  EXPECT_THAT(prose, Not(HasSubstr("://")));
}

TEST(MarkdownReport, RowsOfATableHaveAsManyCellsAsItsHead) {
  for (const SampleJob& sample : all_samples()) {
    const std::string text = rendered(sample, "md", {}, cost::Price{2.5, "--price"});
    std::ptrdiff_t bars = 0;
    for (const std::string& line : lines_of(text)) {
      std::string unescaped = std::regex_replace(line, std::regex("\\\\\\|"), "");
      const std::ptrdiff_t here = std::count(unescaped.begin(), unescaped.end(), '|');
      if (!line.starts_with("|")) {
        bars = 0;
      } else if (bars == 0) {
        bars = here;
      } else {
        EXPECT_EQ(here, bars) << line;
      }
    }
  }
}

TEST(JsonReport, IsValidAndExact) {
  const SampleJob sample = testing::sample_job({.ranks = 4});
  const nlohmann::json report =
      nlohmann::json::parse(rendered(sample, "json", {}, cost::Price{3.6, "--price"}));
  EXPECT_EQ(report["schema"], "pyrometer.report/1");
  std::int64_t sum = 0;
  for (const auto& [id, cause] : report["job"]["causes"].items())
    sum += cause["ns"].get<std::int64_t>();
  EXPECT_EQ(sum, report["job"]["gpu_time_ns"].get<std::int64_t>());
  EXPECT_EQ(sum, 4 * 372'000'000);
  EXPECT_DOUBLE_EQ(report["job"]["cost"]["window_usd"].get<double>(), 4 * 0.372 / 1000);
  EXPECT_DOUBLE_EQ(report["job"]["cost"]["usd_per_1000_steps"].get<double>(), 4 * 31.0 / 1000);
  EXPECT_EQ(report["ranks"][1]["window"]["start_ns"].get<std::int64_t>(),
            1'700'000'000'000'000'000);
  EXPECT_EQ(report["findings"].size(), 7U);
  EXPECT_TRUE(report["findings"][2]["prediction"].is_null());
}

TEST(JsonReport, WhatIsNotKnownOfARunIsNull) {
  const nlohmann::json report = nlohmann::json::parse(rendered(testing::running_job(), "json"));
  const nlohmann::json& run = report["ranks"][0]["run"];
  for (const char* key : {"exit_code", "exit_signal", "step_time_ns", "samples_per_s",
                          "watched_steps", "kept_ns", "before_first_step_ns"}) {
    EXPECT_TRUE(run[key].is_null()) << key;
  }
  EXPECT_EQ(run["wall_ns"], 700'000'000);
  EXPECT_TRUE(run["host_time"]["gc"].is_null());
  EXPECT_TRUE(run["overhead"]["of_run"].is_null());
}

TEST(JsonReport, TotalsOfARunAreThoseOfTheText) {
  const nlohmann::json report = nlohmann::json::parse(rendered(testing::recorded_job(), "json"));
  const nlohmann::json& run = report["ranks"][0]["run"];
  EXPECT_EQ(run["steps"], 40);
  EXPECT_EQ(run["watched_steps"], 20);
  EXPECT_EQ(run["host_time"]["input_wait"]["total_ns"], 40 * 18'000'000);
  EXPECT_EQ(run["host_time"]["checkpoint"]["count"], 2);
  EXPECT_DOUBLE_EQ(run["overhead"]["of_run"].get<double>(), 0.0065);
  EXPECT_TRUE(run["overhead"]["missing"].is_null());
  EXPECT_NEAR(run["samples_per_s"].get<double>(), 64 / 0.031, 1e-6);
}

TEST(Reports, EndWithANewlineAndAreStable) {
  for (const SampleJob& sample : all_samples()) {
    for (const Format& format : all_formats()) {
      const std::string text = rendered(sample, format.name);
      EXPECT_TRUE(text.ends_with('\n'));
      EXPECT_EQ(rendered(sample, format.name), text);
    }
  }
}

TEST(Reports, StopWhenTheReaderIsGone) {
  const SampleJob sample = testing::sample_job();
  for (const Format& format : all_formats()) {
    int pieces = 0;
    const bool done = format.write({sample.timeline, sample.job, sample.diagnosis, {}}, {},
                                   [&](std::string_view) { return ++pieces < 1; });
    EXPECT_FALSE(done) << format.name;
    EXPECT_EQ(pieces, 1) << format.name;
  }
}

TEST(WaterfallView, FoldsSmallCausesUnlessThereIsOnlyOne) {
  model::CauseTimes causes{};
  at(causes, model::Cause::kComputeTensor) = 1'000'000;
  at(causes, model::Cause::kCopyH2d) = 1;
  at(causes, model::Cause::kCopyD2h) = 2;
  at(causes, model::Cause::kIdleGc) = 3;
  at(causes, model::Cause::kIdleHost) = 2;
  model::JobAnalysis job;
  job.causes = causes;
  const WaterfallView view = view_of(job, causes);
  ASSERT_EQ(view.busy.rows.size(), 2U);
  EXPECT_EQ(view.busy.rows[1].label, "other busy time");
  EXPECT_EQ(view.busy.rows[1].time, 3);
  ASSERT_EQ(view.idle.rows.size(), 2U);
  EXPECT_EQ(view.idle.rows[0].label, "Python garbage collection");  // the largest of its half
  EXPECT_EQ(view.idle.rows[1].label, "other host code");
  EXPECT_EQ(view.busy.time + view.idle.time, view.total);
  EXPECT_EQ(view.busy.tenths + view.idle.tenths, 1000);
}

TEST(WaterfallView, SaysWhatPartsOfARowLikelyAre) {
  model::JobAnalysis job;
  at(job.causes, model::Cause::kComputeTensor) = 500;
  at(job.causes, model::Cause::kIdleHost) = 400;
  at(job.causes, model::Cause::kCopyD2h) = 100;
  model::InferredRegion region;
  region.cause = model::Cause::kIdleCheckpoint;
  at(region.causes, model::Cause::kIdleHost) = 120;
  at(region.causes, model::Cause::kCopyD2h) = 90;
  at(region.causes, model::Cause::kComputeTensor) = 50;  // ran meanwhile: nothing lost
  job.ranks.resize(2);
  for (model::RankAnalysis& rank : job.ranks) rank.pauses.inferred = {region};
  const WaterfallView view = view_of(job, job.causes);
  ASSERT_TRUE(has_parts(view));
  EXPECT_TRUE(view.busy.rows[0].parts.empty());
  ASSERT_EQ(view.busy.rows[1].parts.size(), 1U);
  EXPECT_EQ(view.busy.rows[1].parts[0].time, 180);
  ASSERT_EQ(view.idle.rows[0].parts.size(), 1U);
  EXPECT_EQ(view.idle.rows[0].parts[0].label, "likely checkpoint");
  EXPECT_EQ(view.idle.rows[0].parts[0].time, 240);
}

}  // namespace
}  // namespace pyrometer::output

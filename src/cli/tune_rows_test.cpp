#include "cli/tune_rows.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "cli/tune_plan.h"

namespace pyrometer::cli {
namespace {

class TuneResults : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (std::filesystem::temp_directory_path() / "tune-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder.data()), nullptr);
    folder_ = folder;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

// What was written is there when the file is opened again, to the last bit.
TEST_F(TuneResults, GoThroughAFile) {
  const TuneWords words{.command = {"train", "--b", "{batch}", "{mode}", ""},
                        .space = "batch=8..64 log; mode=a,'b c'",
                        .first = "mode='b c'",
                        .objective = "time_to_loss",
                        .samples = "{batch}*2",
                        .memory = {"batch"},
                        .target_loss = 0.1,
                        .trials = 12,
                        .seed = 3,
                        .seconds = 2.5};
  const auto plan = make_plan(words);
  ASSERT_TRUE(plan) << plan.error().to_string();
  const std::string path = (folder_ / "r.pyro").string();
  const tune::Measurement failed{.point = {3, 0},
                                 .outcome = tune::Outcome::kOutOfMemory,
                                 .reason = "out of memory: 'it''s full'",
                                 .seconds = 1.25};
  tune::Measurement full{.point = {0, 1}, .is_final = true, .round = 2, .rung = 2};
  full.steps = 77;
  full.gpus = 2;
  full.step_ns = 1e9 / 3;
  full.samples_per_step = 0.1;
  full.usd_per_gpu_hour = 2.5;
  full.joules_per_step = 1e-9;
  full.peak_memory = 1e11;
  full.loss = -0.25;
  full.seconds_to_loss = 12.5;
  {
    auto file = recording::TuneFile::create(path, settings_of(words));
    ASSERT_TRUE(file) << file.error().to_string();
    ASSERT_TRUE(file->add(row_of(failed, plan->space)));
    ASSERT_TRUE(file->add(row_of(full, plan->space)));
    EXPECT_FALSE(recording::TuneFile::create(path, {}));
  }
  const auto file = recording::TuneFile::open(path);
  ASSERT_TRUE(file) << file.error().to_string();
  const auto again = words_of(file->settings(), path);
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_TRUE(*again == words);
  ASSERT_EQ(file->rows().size(), 2U);
  EXPECT_TRUE(measurement_of(file->rows()[0], plan->space) == failed);
  EXPECT_TRUE(measurement_of(file->rows()[1], plan->space) == full);
}

TEST_F(TuneResults, RowsOfAnotherSpaceAreNone) {
  const auto plan = make_plan({.command = {"{batch}"}, .space = "batch=1,2"});
  ASSERT_TRUE(plan);
  recording::TuneRow row{.phase = "search", .point = "1", .outcome = "measured"};
  EXPECT_TRUE(measurement_of(row, plan->space));
  for (const char* point : {"", "2", "1,0", "x", "1,", "-1"}) {
    row.point = point;
    EXPECT_FALSE(measurement_of(row, plan->space)) << point;
  }
  row.point = "1";
  row.outcome = "unheard of";
  EXPECT_FALSE(measurement_of(row, plan->space));
}

TEST(TunePlan, StepsWillDoWhereTheyAreTheSameWork) {
  const auto will_do = [](const TuneWords& words) {
    const auto plan = make_plan(words);
    EXPECT_TRUE(plan) << words.space;
    return plan && plan->steps_will_do;
  };
  EXPECT_TRUE(will_do({.command = {"x"}, .space = "loader.workers=1,2"}));
  EXPECT_FALSE(will_do({.command = {"x"}, .space = "batch_size=1,2"}));
  EXPECT_FALSE(will_do({.command = {"{n}"}, .space = "n=1,2"}));
  EXPECT_FALSE(will_do({.command = {"x"}, .space = "env:BATCH=1,2"}));
  EXPECT_FALSE(
      will_do({.command = {"x"}, .space = "gc=tune,freeze", .objective = "samples_per_usd"}));
}

TEST(TunePlan, WhatRaisesTheNeedOfMemory) {
  const auto plan = make_plan({.command = {"{batch}{depth}"}, .space = "batch=1,2;depth=1,2"});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->grows_memory, (std::vector<bool>{true, false}));
  const auto named = make_plan(
      {.command = {"{batch}{depth}"}, .space = "batch=1,2;depth=1,2", .memory = {"depth"}});
  EXPECT_EQ(named->grows_memory, (std::vector<bool>{false, true}));
  const auto none = make_plan({.command = {"{batch}"}, .space = "batch=1,2", .memory = {"none"}});
  EXPECT_EQ(none->grows_memory, (std::vector<bool>{false}));
}

}  // namespace
}  // namespace pyrometer::cli

#include "monitor/keep_policy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "recording/reader.h"

namespace pyrometer::monitor {
namespace {

namespace fs = std::filesystem;

class Keeping : public ::testing::Test {
 protected:
  Keeping() : path_(fs::temp_directory_path() / ("keep_" + std::to_string(::getpid()) + ".pyro")) {
    fs::remove(path_);
    auto made = recording::Writer::create(path_);
    writer_ = std::move(*made);
    writer_->put_process({.id = 1, .pid = 42, .program = "python"});
  }
  ~Keeping() override { fs::remove(path_); }

  // Ten events, `length` long, as step `number`.
  Segment segment(std::int64_t number, model::DurationNs length = 100) {
    Segment one;
    one.span = {at_, at_ + length};
    at_ += length;
    one.first_step = number;
    one.steps = 1;
    one.longest = length;
    for (int i = 0; i < 10; ++i) {
      one.rows.activities.push_back({.start = one.span.start + i, .end = one.span.start + i + 1});
    }
    return one;
  }

  model::RankTimeline read() {
    writer_->finish();
    auto timeline = recording::read_recording(path_);
    EXPECT_TRUE(timeline.has_value()) << (timeline ? "" : timeline.error().to_string());
    return std::move(timeline->ranks.front());
  }

  fs::path path_;
  std::unique_ptr<recording::Writer> writer_;
  model::TimeNs at_ = 1000;
};

TEST_F(Keeping, KeepsAShortRunWhole) {
  KeepPolicy keep(*writer_, 1, {});
  for (int i = 0; i < 20; ++i) keep.add(segment(i));
  keep.finish();
  EXPECT_EQ(read().activities.size(), 170U);  // without the three of the warm-up
}

TEST_F(Keeping, LeavesTheWarmUpOut) {
  KeepPolicy keep(*writer_, 1, {});
  keep.add(segment(0, 100'000));
  keep.add(segment(1, 30'000));
  for (int i = 2; i < 20; ++i) keep.add(segment(i));
  keep.finish();
  EXPECT_LT(read().run->kept, 2000);
}

TEST_F(Keeping, KeepsTheFirstTheLatestAndTheSlowest) {
  KeepPolicy keep(*writer_, 1, {.first_rows = 50, .latest_rows = 30, .slowest_rows = 100});
  for (int i = 0; i < 100; ++i) keep.add(segment(i, i == 50 ? 900 : 100));
  keep.finish();
  const model::RankTimeline timeline = read();
  // The slowest is in the file, but not among the steps that stand for the run.
  EXPECT_EQ(timeline.activities.size(), 80U);
  EXPECT_EQ(timeline.run->kept, 800);
}

TEST_F(Keeping, KeepsTheWarmUpOfARunThatHadNothingElse) {
  KeepPolicy keep(*writer_, 1, {});
  keep.add(segment(0, 100'000));
  keep.add(segment(1, 90'000));
  keep.finish();
  EXPECT_EQ(read().activities.size(), 20U);
}

}  // namespace
}  // namespace pyrometer::monitor

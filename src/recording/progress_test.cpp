#include "recording/progress.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "recording/writer.h"

namespace pyrometer::recording {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMs = 1'000'000;

class ProgressOfRun : public ::testing::Test {
 protected:
  ProgressOfRun()
      : folder_(fs::temp_directory_path() / ("pyro_progress_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
    path_ = (folder_ / "run.pyro").string();
    auto made = Writer::create(path_);
    EXPECT_TRUE(made.has_value());
    writer_ = std::move(*made);
  }
  ~ProgressOfRun() override { fs::remove_all(folder_); }

  void add_process(std::int64_t id, int pid, int rank, bool ended) {
    writer_->put_process({.id = id,
                          .pid = pid,
                          .start = 1,
                          .end = ended ? 100'000 * kMs : 0,
                          .rank = rank,
                          .program = "python",
                          .capture = "on"});
  }
  // Steps of `ms` each; every fourth is watched.
  void add_steps(std::int64_t process, int count, std::int64_t ms, std::int64_t samples) {
    for (int i = 0; i < count; ++i) {
      model::RecordedStep step{.index = i,
                               .span = {(10 + i) * ms * kMs, (11 + i) * ms * kMs},
                               .longest = ms * kMs,
                               .samples = samples,
                               .captured = i % 4 == 0};
      model::at(step.causes, model::Cause::kComputeMath) = ms * kMs * 3 / 4;
      model::at(step.causes, model::Cause::kIdleInput) = ms * kMs / 4;
      writer_->add_step(process, step);
    }
  }

  fs::path folder_;
  std::string path_;
  std::unique_ptr<Writer> writer_;
};

TEST_F(ProgressOfRun, TellsHowFarATrainingIsWhileItIsWritten) {
  add_process(1, 4242, 0, false);
  add_process(2, 4243, 1, true);
  add_steps(1, 100, 200, 32);
  writer_->commit();
  const auto progress = read_progress(path_);
  ASSERT_TRUE(progress.has_value()) << progress.error().to_string();
  ASSERT_EQ(progress->size(), 1U) << "the other has ended";
  const Progress& one = progress->front();
  EXPECT_EQ(one.pid, 4242);
  EXPECT_EQ(one.rank, 0);
  EXPECT_EQ(one.steps, 100);
  EXPECT_EQ(one.step_ns, 200 * kMs);
  EXPECT_DOUBLE_EQ(one.samples_per_second, 160);
  const auto whole = static_cast<double>(model::total(one.causes));
  EXPECT_NEAR(static_cast<double>(model::at(one.causes, model::Cause::kIdleInput)) / whole, 0.25,
              1e-9);
  // The writer goes on: nobody holds it up.
  add_steps(1, 10, 200, 32);
  writer_->commit();
  EXPECT_FALSE(writer_->failed());
}

TEST_F(ProgressOfRun, SaysNothingOfWhatIsNotKnown) {
  add_process(1, 4242, -1, false);
  writer_->commit();
  const auto none = read_progress(path_);
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->front().step_ns, 0);
  add_steps(1, 3, 100, -1);
  writer_->commit();
  const auto some = read_progress(path_);
  ASSERT_TRUE(some.has_value());
  EXPECT_EQ(some->front().step_ns, 100 * kMs);
  EXPECT_EQ(some->front().samples_per_second, 0);
}

TEST_F(ProgressOfRun, TellsHowFarItWasThen) {
  add_process(1, 4242, 0, true);
  add_steps(1, 100, 200, 32);
  writer_->commit();
  const auto now = read_progress(path_);
  ASSERT_TRUE(now.has_value());
  EXPECT_TRUE(now->empty()) << "it has ended";
  const auto then = read_progress(path_, 5000 * kMs);
  ASSERT_TRUE(then.has_value()) << then.error().to_string();
  ASSERT_EQ(then->size(), 1U);
  EXPECT_EQ(then->front().steps, 15) << "the steps that had ended by then";
  EXPECT_EQ(then->front().step_ns, 200 * kMs);
}

}  // namespace
}  // namespace pyrometer::recording

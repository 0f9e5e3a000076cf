#include "monitor/ring_set.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "recording/writer.h"
#include "ring/writer.h"
#include "tests/support/ring_records.h"

namespace pyrometer::monitor {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

// A process that trains, and does what the monitor asks of it.
class Rank {
 public:
  Rank(const std::string& folder, int rank, std::uint64_t start) : at_(start) {
    ring::CreateError error = ring::CreateError::kNone;
    writer_ = ring::Writer::create(folder, 1U << 14U, &error);
    tell("env.RANK", std::to_string(rank));
    tell("env.WORLD_SIZE", "2");
    capture(true);
  }

  void train_until(std::uint64_t time, std::uint64_t step_ns) {
    const bool wanted = (control() & ring::kControlCaptureOff) == 0;
    if (wanted != on_) capture(wanted);
    while (at_ + step_ns < time) {
      if (on_) {
        ring::ActivityBody kernel{.start = at_ + step_ns / 4, .end = at_ + step_ns / 2};
        kernel.correlation = static_cast<std::uint32_t>(++step_);
        writer_->write(ring::RecordType::kKernel, 0, kernel);
      }
      const ring::RangeBody step{.start = at_,
                                 .end = at_ + step_ns,
                                 .a = step_,
                                 .b = 1,
                                 .name = 0,
                                 .kind = ring::RangeKind::kStep,
                                 .flags = 0};
      writer_->write(ring::RecordType::kRange, static_cast<std::uint32_t>(::getpid()), step);
      at_ += step_ns;
    }
  }

  std::uint32_t control() { return writer_->header().control.load(); }

 private:
  void tell(const char* key, const std::string& value) {
    const ring::InfoBody info{
        .time = at_, .key = writer_->intern_name(key), .value = writer_->intern_name(value)};
    writer_->write(ring::RecordType::kInfo, 0, info);
  }

  void capture(bool on) {
    on_ = on;
    const ring::CaptureBody body{
        .time = at_, .on = on ? 1U : 0U, .reason = ring::CaptureReason::kDutyCycle};
    writer_->write(ring::RecordType::kCapture, 0, body);
  }

  ring::Writer* writer_ = nullptr;
  std::uint64_t at_;
  std::int64_t step_ = 0;
  bool on_ = true;
};

// Each alone would measure another cost, and choose other moments.
TEST(RingSet, RanksOfAJobAreWatchedTogether) {
  const tests::RingFolder folder;
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("ring_set." + std::to_string(::getpid()) + ".pyro"))
                               .string();
  auto file = recording::Writer::create(path);
  ASSERT_TRUE(file.has_value());
  RingSet set(folder.path(), **file, {});
  const std::uint64_t start = ring::monotonic_ns();
  std::array<Rank, 2> ranks{Rank(folder.path(), 0, start), Rank(folder.path(), 1, start)};
  int off = 0;
  for (int half = 1; half < 120; ++half) {
    const std::uint64_t now = start + 500 * kMs * static_cast<std::uint64_t>(half);
    ranks[0].train_until(now, 5 * kMs);
    ranks[1].train_until(now, 5 * kMs + kMs / 2 * static_cast<std::uint64_t>(half % 3));
    (void)set.drain();
    set.advance(static_cast<model::TimeNs>(now));
    ASSERT_EQ(ranks[0].control(), ranks[1].control()) << half;
    off += (ranks[0].control() & ring::kControlCaptureOff) != 0 ? 1 : 0;
  }
  EXPECT_GT(off, 10);
  EXPECT_LT(off, 118);
  set.finish(static_cast<model::TimeNs>(start + 60'000 * kMs));
  (*file)->finish();
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace pyrometer::monitor

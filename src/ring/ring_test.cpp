#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/monotonic.h"
#include "ring/reader.h"
#include "ring/writer.h"
#include "tests/support/ring_records.h"

namespace pyrometer::ring {
namespace {

using tests::RecordLog;
using tests::RingFolder;

ActivityBody kernel(std::uint64_t start, std::uint32_t name) {
  ActivityBody body{.start = start, .end = start + 10};
  body.kernel.name = name;
  return body;
}

TEST(Ring, RecordsArriveInOrderAndOnce) {
  RingFolder folder;
  CreateError error = CreateError::kNone;
  Writer* writer = Writer::create(folder.path(), 1024, &error);
  ASSERT_NE(writer, nullptr);
  Reader reader = folder.open_only();
  EXPECT_EQ(reader.pid(), static_cast<std::uint32_t>(::getpid()));
  EXPECT_EQ(reader.slot_count(), 1024U);

  const std::uint32_t name = writer->intern_name("gemm");
  EXPECT_EQ(name, 1U);
  EXPECT_EQ(writer->intern_name("gemm"), name);
  KernelConfigBody config{.grid = {1, 2, 3}, .block = {4, 5, 6}, .registers_per_thread = 32};
  EXPECT_EQ(writer->intern_config(config), 1U);
  EXPECT_EQ(writer->intern_config(config), 1U);
  EXPECT_TRUE(writer->write(RecordType::kKernel, 7, kernel(100, name)));
  EXPECT_TRUE(writer->write(RecordType::kRange, 8, RangeBody{.start = 1, .end = 2, .a = -1}));
  EXPECT_TRUE(writer->write(RecordType::kInfo, 0, InfoBody{.time = 5, .key = 1, .value = 1}));

  RecordLog log;
  EXPECT_EQ(reader.poll(log), 5U);
  EXPECT_EQ(log.names, (std::map<std::uint32_t, std::string>{{1, "gemm"}}));
  ASSERT_EQ(log.kernels.size(), 1U);
  EXPECT_EQ(log.kernels[0].start, 100U);
  EXPECT_EQ(log.threads[0], 7U);
  ASSERT_EQ(log.configs.size(), 1U);
  EXPECT_EQ(log.configs[0].block[2], 6U);
  ASSERT_EQ(log.ranges.size(), 1U);
  EXPECT_EQ(log.ranges[0].a, -1);
  EXPECT_EQ(log.infos.size(), 1U);
  EXPECT_EQ(reader.poll(log), 0U);
  EXPECT_TRUE(reader.drained());
}

TEST(Ring, StringsOfEveryLengthAreWhole) {
  RingFolder folder;
  CreateError error = CreateError::kNone;
  Writer* writer = Writer::create(folder.path(), 256, &error);
  ASSERT_NE(writer, nullptr);
  Reader reader = folder.open_only();
  RecordLog log;
  for (std::size_t length = 1; length <= kMaxStringBytes; length += length < 300 ? 1 : 97) {
    std::string text(length, 'a');
    text.front() = static_cast<char>('A' + length % 26);
    text.back() = static_cast<char>('A' + length % 23);
    const std::uint32_t id = writer->intern_name(text);
    ASSERT_NE(id, 0U);
    reader.poll(log);
    ASSERT_EQ(log.names[id], text);
  }
  EXPECT_EQ(reader.counts().malformed, 0U);
}

TEST(Ring, LongNamesAreCutAtACharacterAndMarked) {
  RingFolder folder;
  CreateError error = CreateError::kNone;
  Writer* writer = Writer::create(folder.path(), 256, &error);
  ASSERT_NE(writer, nullptr);
  Reader reader = folder.open_only();
  std::string text(kMaxStringBytes - 4, 'x');
  while (text.size() < 5000) {
    text += "\u00e9";
  }
  const std::uint32_t id = writer->intern_name(text);
  RecordLog log;
  reader.poll(log);
  EXPECT_EQ(log.names[id], std::string(kMaxStringBytes - 4, 'x') + "\u2026");
}

TEST(Ring, OverflowIsCountedByType) {
  RingFolder folder;
  CreateError error = CreateError::kNone;
  Writer* writer = Writer::create(folder.path(), 64, &error);
  ASSERT_NE(writer, nullptr);
  Reader reader = folder.open_only();
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(writer->write(RecordType::kKernel, 0, kernel(i, 0)), i < 64);
  }
  EXPECT_FALSE(writer->write(RecordType::kCounter, 0, CounterBody{}));
  EXPECT_EQ(reader.dropped()[static_cast<int>(RecordType::kKernel)], 36U);
  EXPECT_EQ(reader.dropped()[static_cast<int>(RecordType::kCounter)], 1U);
  RecordLog log;
  EXPECT_EQ(reader.poll(log), 64U);
  EXPECT_TRUE(writer->write(RecordType::kKernel, 0, kernel(1000, 0)));
  EXPECT_EQ(reader.poll(log), 1U);
  EXPECT_EQ(log.kernels.back().start, 1000U);
}

TEST(Ring, ANameThatFoundNoRoomIsDefinedLater) {
  RingFolder folder;
  CreateError error = CreateError::kNone;
  Writer* writer = Writer::create(folder.path(), 64, &error);
  ASSERT_NE(writer, nullptr);
  Reader reader = folder.open_only();
  while (writer->write(RecordType::kKernel, 0, kernel(1, 0))) {
  }
  EXPECT_EQ(writer->intern_name("late"), 0U);
  EXPECT_EQ(writer->intern_name("late"), 0U);
  RecordLog log;
  reader.poll(log);
  EXPECT_TRUE(log.names.empty());
  EXPECT_EQ(writer->intern_name("late"), 1U);
  reader.poll(log);
  EXPECT_EQ(log.names[1], "late");
}

TEST(Ring, ManyThreadsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kEach = 20000;
  RingFolder folder;
  CreateError error = CreateError::kNone;
  Writer* writer = Writer::create(folder.path(), 1024, &error);
  ASSERT_NE(writer, nullptr);
  Reader reader = folder.open_only();
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([=] {
      for (int i = 0; i < kEach; ++i) {
        const std::uint32_t name = writer->intern_name("name " + std::to_string(i % 501));
        writer->write(RecordType::kKernel, static_cast<std::uint32_t>(t), kernel(i, name));
      }
    });
  }
  RecordLog log;
  std::thread poller([&] {
    while (log.kernels.size() + reader.dropped()[static_cast<int>(RecordType::kKernel)] <
           std::size_t{kThreads} * kEach) {
      reader.poll(log);
    }
  });
  for (std::thread& thread : threads) {
    thread.join();
  }
  poller.join();
  EXPECT_EQ(log.kernels.size() + reader.dropped()[static_cast<int>(RecordType::kKernel)],
            std::size_t{kThreads} * kEach);
  std::vector<std::uint64_t> last(kThreads, 0);
  for (std::size_t i = 0; i < log.kernels.size(); ++i) {
    const ActivityBody& body = log.kernels[i];
    EXPECT_GE(body.start, last[log.threads[i]]);
    last[log.threads[i]] = body.start;
    if (body.kernel.name != 0) {
      ASSERT_EQ(log.names[body.kernel.name], "name " + std::to_string(body.start % 501));
    }
  }
  EXPECT_EQ(reader.counts().malformed, 0U);
  EXPECT_EQ(log.undefined_names, 0U);
}

TEST(Ring, NamesThatFindNoRoomInTheTableAreCounted) {
  RingFolder folder;
  CreateError error = CreateError::kNone;
  Writer* writer = Writer::create(folder.path(), 1024, &error);
  ASSERT_NE(writer, nullptr);
  Reader reader = folder.open_only();
  RecordLog log;
  std::uint64_t lost = 0;
  for (int i = 0; i < 200'000 && lost < 10; ++i) {
    lost += writer->intern_name("a name that no other call has " + std::to_string(i)) == 0 ? 1 : 0;
    reader.poll(log);
  }
  EXPECT_EQ(lost, 10U);
  EXPECT_EQ(reader.dropped()[static_cast<std::size_t>(RecordType::kString)], lost);
  EXPECT_EQ(writer->intern_name("a name that no other call has 0"), 1U);
}

// A recorded process may write anything: what cannot be a time of its clock is not passed on.
TEST(Ring, ImpossibleTimesAreMalformed) {
  RingFolder folder;
  CreateError error = CreateError::kNone;
  Writer* writer = Writer::create(folder.path(), 64, &error);
  ASSERT_NE(writer, nullptr);
  Reader reader = folder.open_only();
  const auto latest = static_cast<std::uint64_t>(base::kLatestMonotonicNs);
  writer->write(RecordType::kKernel, 0, ActivityBody{.start = 1, .end = latest});
  writer->write(RecordType::kKernel, 0, ActivityBody{.start = 1, .end = latest + 1});
  writer->write(RecordType::kApiCall, 0, ApiCallBody{.start = ~std::uint64_t{0}, .end = 1});
  writer->write(RecordType::kRange, 0, RangeBody{.start = latest + 1, .end = latest + 2});
  writer->write(RecordType::kCounter, 0, CounterBody{.time = latest + 1});
  writer->write(RecordType::kCapture, 0, CaptureBody{.time = latest + 1, .on = 1});
  writer->write(RecordType::kRange, 0, RangeBody{.start = 5, .end = 6});
  RecordLog log;
  reader.poll(log);
  EXPECT_EQ(log.kernels.size(), 1U);
  EXPECT_EQ(log.ranges.size(), 1U);
  EXPECT_TRUE(log.api_calls.empty() && log.counters.empty() && log.captures.empty());
  EXPECT_EQ(reader.counts().malformed, 5U);
  EXPECT_EQ(reader.counts().records, 2U);
}

TEST(Ring, AChildByForkWritesNothing) {
  RingFolder folder;
  CreateError error = CreateError::kNone;
  Writer* writer = Writer::create(folder.path(), 64, &error);
  ASSERT_NE(writer, nullptr);
  Reader reader = folder.open_only();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool wrote = writer->write(RecordType::kKernel, 0, kernel(1, 0)) ||
                       writer->intern_name("child") != 0 || writer->live();
    ::_exit(wrote ? 1 : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  RecordLog log;
  EXPECT_EQ(reader.poll(log), 0U);
  EXPECT_TRUE(writer->live());
}

TEST(Ring, ANewImageInTheSameProcessGetsANameOfItsOwn) {
  RingFolder folder;
  CreateError error = CreateError::kNone;
  ASSERT_NE(Writer::create(folder.path(), 64, &error), nullptr);
  ASSERT_NE(Writer::create(folder.path(), 64, &error), nullptr);
  const auto files = folder.files();
  ASSERT_EQ(files.size(), 2U);
  for (const std::string& file : files) {
    EXPECT_TRUE(Reader::open(file).has_value());
    struct stat status {};
    ASSERT_EQ(::stat(file.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    EXPECT_EQ(status.st_nlink, 1U);
  }
}

TEST(Ring, SaysWhyItCannotBeMade) {
  CreateError error = CreateError::kNone;
  EXPECT_EQ(Writer::create("/dev/shm/no-such-folder-here", 64, &error), nullptr);
  EXPECT_EQ(error, CreateError::kSessionOver);
  EXPECT_EQ(Writer::create("/proc", 64, &error), nullptr);
  EXPECT_EQ(error, CreateError::kSessionOver);
  RingFolder folder;
  EXPECT_EQ(Writer::create(folder.path() + std::string(500, 'x'), 64, &error), nullptr);
  EXPECT_EQ(error, CreateError::kNoRoom);
  EXPECT_TRUE(folder.files().empty());
}

TEST(Ring, ControlAndHeartbeatReachTheWriter) {
  RingFolder folder;
  CreateError error = CreateError::kNone;
  Writer* writer = Writer::create(folder.path(), 64, &error);
  ASSERT_NE(writer, nullptr);
  EXPECT_FALSE(writer->reader_ended());
  Reader reader = folder.open_only();
  reader.beat(123);
  reader.set_control(kControlCaptureOff | kControlSyncWindow);
  EXPECT_EQ(writer->header().heartbeat.load(), 123U);
  EXPECT_EQ(writer->header().control.load(), 3U);
  EXPECT_FALSE(writer->reader_ended());
  EXPECT_FALSE(reader.writer_ended());
  writer->header().state.store(static_cast<std::uint32_t>(WriterState::kPaused));
  EXPECT_EQ(reader.state(), WriterState::kPaused);
  reader.unlink();
  EXPECT_TRUE(folder.files().empty());
}

}  // namespace
}  // namespace pyrometer::ring

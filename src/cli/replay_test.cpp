#include "cli/replay.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "cli/recorded_ranks.h"
#include "cli/training_watch.h"
#include "readout/collector.h"
#include "readout/fields.h"
#include "recording/writer.h"
#include "tests/sources/source_testing.h"

namespace pyrometer::cli {
namespace {

using sources::Value;

constexpr std::int64_t kSecond = 1'000'000'000;

std::string make_recording(const std::string& folder, bool has_gpu) {
  const std::string path = folder + (has_gpu ? "/gpu.pyro" : "/none.pyro");
  auto writer = recording::Writer::create(path);
  EXPECT_TRUE(writer) << writer.error().to_string();
  (*writer)->set_meta("realtime_offset_ns", std::to_string(1'000 * kSecond));
  const auto load = (*writer)->add_metric("host.load1", "", "host");
  (*writer)->add_sample(load, kSecond, 7);
  if (!has_gpu) {
    (*writer)->set_meta("gpu_missing", "this machine has no NVIDIA GPU");
    (*writer)->commit();
    return path;
  }
  const auto index = (*writer)->add_metric("gpu.index", "", "gpu 0");
  const auto name = (*writer)->add_metric("gpu.process.name", "text", "gpu 0 process 43");
  const auto count = (*writer)->add_metric("gpu.processes", "count", "gpu 0");
  (*writer)->add_sample(index, kSecond, 0);
  (*writer)->add_sample(count, kSecond, 2);
  for (const int pid : {42, 43}) {
    const auto computes =
        (*writer)->add_metric("gpu.process.compute", "", "gpu 0 process " + std::to_string(pid));
    (*writer)->add_sample(computes, kSecond + 1, 1);
  }
  (*writer)->add_missing(name, kSecond + 1, "= Xorg");
  (*writer)->add_sample(index, 3 * kSecond, 0);
  (*writer)->put_process({.id = 1,
                          .pid = 42,
                          .start = kSecond,
                          .rank = 3,
                          .world_size = 8,
                          .program = "python3",
                          .capture = "on"});
  (*writer)->commit();
  return path;
}

TEST(Replay, ShowsWhoWasRecordedAndWhen) {
  const sources::FakeRoot folder;
  const auto replay = open_replay({.file = make_recording(folder.path(), true)}, true);
  ASSERT_TRUE(replay) << replay.error().to_string();
  readout::Collector collector({.stand_in = replay->stand_in});
  const readout::Snapshot snapshot = collector.look();
  ASSERT_FALSE(snapshot.problem);
  EXPECT_EQ(snapshot.host, "gpu.pyro");
  EXPECT_EQ(snapshot.unix_ms, 1'003'000);
  ASSERT_EQ(snapshot.devices.size(), 1U);
  ASSERT_EQ(snapshot.devices[0].processes.size(), 2U);
  const sources::ProcessOwner& recorded = snapshot.devices[0].processes[0].owner;
  EXPECT_EQ(*recorded.program.text(), "python3");
  EXPECT_EQ(*recorded.rank.number(), 3);
  EXPECT_EQ(*recorded.recording.text(), "gpu.pyro");
  EXPECT_TRUE(recorded.user.is_missing());
  const sources::ProcessOwner& other = snapshot.devices[0].processes[1].owner;
  EXPECT_EQ(*other.program.text(), "Xorg");
  EXPECT_TRUE(other.rank.is_missing());
  EXPECT_TRUE(other.recording.is_missing());
}

TEST(Replay, SaysWhyNothingCanBePlayed) {
  const sources::FakeRoot folder;
  const auto none = open_replay({.file = make_recording(folder.path(), false)}, false);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().to_string().find("holds no readings of a GPU: while it was made, this "
                                          "machine has no NVIDIA GPU"),
            std::string::npos)
      << none.error().to_string();
  EXPECT_FALSE(open_replay({.file = folder.path() + "/missing.pyro"}, false));
  const auto late = open_replay({.file = make_recording(folder.path(), true), .from_s = 60}, false);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().kind, base::ErrorKind::kUsage);
}

TEST(Replay, OptionsFitTogether) {
  EXPECT_EQ((ReplayChoice{}.conflict(true)), "");
  EXPECT_NE((ReplayChoice{.from_s = 1}.conflict(false)), "");
  EXPECT_NE((ReplayChoice{.speed = 2}.conflict(false)), "");
  EXPECT_EQ((ReplayChoice{.file = "a", .speed = 2}.conflict(false)), "");
  EXPECT_NE((ReplayChoice{.file = "a"}.conflict(true)), "");
}

TEST(RecordedRanks, AreThoseOfTheRecordingThatIsBeingWritten) {
  const sources::FakeRoot folder;
  auto writer = recording::Writer::create(folder.path() + "/open.pyro");
  ASSERT_TRUE(writer);
  for (const int rank : {-1, 5}) {
    (*writer)->put_process({.id = rank + 2, .pid = 100 + rank, .start = kSecond, .rank = rank});
  }
  (*writer)->commit();
  const sources::RankLookup rank_of = recorded_ranks("");
  EXPECT_EQ(rank_of(::getpid(), 105), 5);
  EXPECT_EQ(rank_of(::getpid(), 99), std::nullopt) << "it tells none";
  EXPECT_EQ(rank_of(::getpid(), 7), std::nullopt) << "it is not recorded";
  sources::ProcessOwner owner;
  sources::add_rank(owner, 105, rank_of);
  EXPECT_TRUE(owner.rank.is_missing()) << "nobody records it";
  owner.recording = Value::text("pyrometer " + std::to_string(::getpid()));
  sources::add_rank(owner, 105, rank_of);
  ASSERT_NE(owner.rank.number(), nullptr);
  EXPECT_EQ(*owner.rank.number(), 5);
  owner.rank = sources::ProcessOwner::unknown();
  sources::add_rank(owner, 99, rank_of);
  EXPECT_EQ(owner.rank.reason(), "not available: its recording tells no rank");
}

TEST(RecordedRanks, AreAFieldOfTheirGpu) {
  const auto field = readout::find_field("ranks");
  ASSERT_TRUE(field);
  readout::Snapshot snapshot;
  readout::Device device;
  EXPECT_EQ(readout::field_text(*field, device, snapshot), std::nullopt);
  for (const double rank : {11.0, 2.0}) {
    readout::Process process;
    process.owner.rank = Value::number(rank);
    device.processes.push_back(process);
  }
  device.processes.emplace_back();
  EXPECT_EQ(readout::field_text(*field, device, snapshot), "2 11");
}

TEST(Replay, TellsTheStepsOfTheMomentThatIsPlayed) {
  const sources::FakeRoot folder;
  const std::string path = folder.path() + "/run.pyro";
  auto writer = recording::Writer::create(path);
  ASSERT_TRUE(writer);
  (*writer)->put_process({.id = 1, .pid = 42, .start = kSecond, .end = 60 * kSecond, .rank = 2});
  for (int i = 0; i < 50; ++i) {
    (*writer)->add_step(1, {.index = i,
                            .span = {(i + 1) * kSecond, (i + 2) * kSecond},
                            .longest = kSecond,
                            .samples = 8});
  }
  (*writer)->commit();
  std::atomic<std::int64_t> now = 11 * kSecond;
  TrainingWatch watch("/nowhere", {}, PlayedRecording{path, [&now] { return now.load(); }});
  ASSERT_TRUE(watch.start());
  std::shared_ptr<const readout::Trainings> told;
  for (int i = 0; i < 1000 && (told == nullptr || told->empty()); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    told = watch.trainings();
  }
  ASSERT_EQ(told->size(), 1U);
  const readout::Training& training = told->at(42);
  EXPECT_EQ(training.steps, 10) << "those that had ended by then";
  EXPECT_EQ(training.rank, 2);
  EXPECT_DOUBLE_EQ(training.samples_per_second.value_or(0), 8);
  EXPECT_EQ(training.file, path);
}

}  // namespace
}  // namespace pyrometer::cli

// What is written is read again, also while it is being written and after a kill.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "recording/reader.h"
#include "recording/writer.h"
#include "tests/support/recording_fixture.h"

namespace pyrometer::recording {
namespace {

namespace fs = std::filesystem;

TEST_F(Recording, GivesBackWhatWasWritten) {
  const auto writer = create(path());
  fill(*writer);
  writer->finish();
  EXPECT_FALSE(fs::exists(path() + "-wal"));
  const auto timeline = read_recording(path());
  ASSERT_TRUE(timeline.has_value()) << timeline.error().to_string();
  ASSERT_EQ(timeline->ranks.size(), 1U);
  const model::RankTimeline& rank = timeline->ranks.front();
  ASSERT_EQ(rank.activities.size(), 5U);
  // The second window follows the first: 1300 + 30.
  EXPECT_EQ(rank.activities.start[3], 1330);
  EXPECT_EQ(rank.name(rank.activities.name[0]), "ampere_sgemm_128x64_tn");
  EXPECT_NE(rank.activities.launch[3], model::kNone);
  ASSERT_EQ(rank.devices.size(), 1U);
  EXPECT_EQ(rank.devices[0].name, "NVIDIA H200");
  EXPECT_EQ(rank.kernel_configs.at(0).blocks_per_sm, 1.0F);
  ASSERT_NE(rank.run, nullptr);
  EXPECT_EQ(rank.run->info.at("torch.version"), "2.11.1");
  EXPECT_EQ(rank.run->steps_total, 2);
  EXPECT_EQ(rank.run->kept, 500);
  EXPECT_TRUE(rank.run->steps[0].captured);
  EXPECT_EQ(at(rank.run->steps[0].causes, model::Cause::kComputeMath), 60);
  EXPECT_FALSE(rank.run->steps[1].captured);
  EXPECT_EQ(rank.run->steps[1].samples, -1);
  ASSERT_EQ(rank.run->host_lines.size(), 1U);
  EXPECT_EQ(rank.run->host_lines[0].second, 3);
  ASSERT_EQ(rank.run->blocking_lines.size(), 2U);
  EXPECT_EQ(rank.run->blocking_lines[0].call, "to");
  EXPECT_EQ(rank.run->blocking_lines[0].line, "model/a b.py:7");
  EXPECT_EQ(rank.run->blocking_lines[1].count, 4);
  EXPECT_EQ(rank.run->blocking_lines[1].total, 400);
  EXPECT_TRUE(rank.stats.lost_data());
}

// The ends, the extremes and the mean are exact however long a series is; its points are thinned.
TEST_F(Recording, GivesCountersInBoundedSize) {
  const auto writer = create(path());
  fill(*writer);
  const std::int64_t busy = writer->add_metric("host.cpu_busy", "fraction", "host");
  constexpr int kReadings = 5000;
  for (int i = 0; i < kReadings; ++i) writer->add_sample(busy, 1000 + i, i == 777 ? 9 : i % 2);
  const std::int64_t few = writer->add_metric("gpu.util", "fraction", "gpu 0");
  writer->add_sample(few, 1001, 0.5);
  writer->add_sample(few, 1002, 0.25);
  writer->add_counter(1, writer->names().intern("memory.allocated_bytes"), 1100, 42);
  const std::int64_t governor = writer->add_metric("host.cpu_governor", "", "host");
  writer->add_missing(governor, 1000, "= powersave");
  writer->add_missing(governor, 1500, "not supported");
  writer->finish();
  const auto timeline = read_recording(path());
  ASSERT_TRUE(timeline.has_value()) << timeline.error().to_string();
  const model::RecordedRun& run = *timeline->ranks.front().run;
  EXPECT_EQ(run.pid, 42);
  ASSERT_EQ(run.devices.size(), 1U);
  ASSERT_EQ(run.counters.size(), 3U);
  EXPECT_EQ(run.counters[0].object, "process");
  EXPECT_EQ(run.counters[0].points.size(), 1U);
  EXPECT_EQ(run.counters[1].points.size(), 2U);
  const model::CounterSummary& all = run.counters[2];
  EXPECT_EQ(all.name, "host.cpu_busy");
  EXPECT_EQ(all.count, kReadings);
  EXPECT_EQ(all.max, 9);
  EXPECT_EQ(all.first, 0);
  EXPECT_EQ(all.last, 1);
  EXPECT_LE(all.points.size(), model::kMostCounterPoints);
  EXPECT_GE(all.points.size(), model::kMostCounterPoints / 2);
  EXPECT_EQ(all.points.front().time, 1000);
  EXPECT_EQ(all.points.back().time, 1000 + kReadings - 1);
  ASSERT_EQ(run.texts.size(), 1U);
  ASSERT_EQ(run.texts[0].changes.size(), 2U);
  EXPECT_EQ(run.texts[0].changes[0].text, "powersave");
  EXPECT_FALSE(run.texts[0].changes[0].is_reason);
  EXPECT_TRUE(run.texts[0].changes[1].is_reason);
}

// A long pause is kept as such and, with all else, of the window that it lies in.
// Two GPUs of a machine, of which the process uses the second; its counter, read now and then.
TEST_F(Recording, AddsUpTheEnergyOfItsOwnGpu) {
  const auto writer = create(path());
  writer->set_meta("start_ns", "1000");
  writer->set_meta("end_ns", "9000");
  writer->put_process({.id = 1, .pid = 42, .parent_pid = 1, .start = 1000, .program = "python"});
  writer->put_device(1, {.ordinal = 0, .name = "NVIDIA H200", .uuid = "GPU-b"});
  writer->add_window(1, {{3000, 3300}, "regular"}, rows_of(*writer, 3000, 3));
  model::RecordedStep step;
  step.count = 2;
  step.span = {3000, 7000};
  writer->add_step(1, step);
  const auto metric = [&](const char* name, const char* object) {
    return writer->add_metric(name, "J", object);
  };
  writer->add_missing(writer->add_metric("gpu.uuid", "text", "gpu 0"), 1100, "= GPU-a");
  writer->add_missing(writer->add_metric("gpu.uuid", "text", "gpu 1"), 1100, "= GPU-b");
  const std::int64_t other = metric("gpu.energy", "gpu 0");
  const std::int64_t counter = metric("gpu.energy", "gpu 1");
  const std::int64_t polled = metric("gpu.energy_polled", "gpu 1");
  for (std::int64_t time = 500; time <= 9500; time += 1000) {
    writer->add_sample(other, time, 1e6 + static_cast<double>(time) * 9);
    writer->add_sample(counter, time, 5e5 + static_cast<double>(time));
  }
  writer->add_sample(polled, 2000, 30);
  writer->add_sample(polled, 3000, 10);  // began anew
  writer->add_missing(metric("host.energy_cpu", "host"), 1200, "no permission: root alone");
  writer->add_sample(metric("host.energy_memory", "host"), 1200, 7);
  writer->finish();
  const auto timeline = read_recording(path());
  ASSERT_TRUE(timeline.has_value()) << timeline.error().to_string();
  const std::vector<model::EnergySeries>& energy = timeline->ranks.at(0).run->energy;
  ASSERT_EQ(energy.size(), 4U);
  EXPECT_EQ(energy[0].object, "gpu 1");
  EXPECT_EQ(energy[0].missing, "");
  EXPECT_DOUBLE_EQ(energy[0].joules, 7000);  // of the readings within the run
  EXPECT_EQ(energy[0].span.length(), 7000);
  EXPECT_DOUBLE_EQ(energy[0].step_joules, 4000);
  EXPECT_EQ(energy[0].step_span.length(), 4000);
  double within = 0;
  for (const model::EnergyWindow& window : energy[0].windows) within += window.joules;
  EXPECT_DOUBLE_EQ(within, 4000);
  const auto light = read_runs(path());
  ASSERT_TRUE(light);
  EXPECT_EQ(light->ranks.at(0).run->energy[0].windows.size(), energy[0].windows.size());
  EXPECT_EQ(energy[1].missing, "the meter began anew during the run");
  EXPECT_EQ(energy[1].joules, 0);
  EXPECT_EQ(energy[2].missing, "no permission: root alone");
  EXPECT_EQ(energy[3].missing, "it was read once only");
}

TEST_F(Recording, CountsAPauseOnce) {
  const auto writer = create(path());
  writer->put_process({.id = 1, .pid = 42, .parent_pid = 1, .start = 600, .program = "python"});
  const RangeRow pause{.start = 1120, .end = 1180, .thread = 42, .type = RangeType::kValidation};
  writer->add_range(1, pause);
  DetailRows rows = rows_of(*writer, 1000, 3);
  rows.ranges.push_back(pause);
  writer->add_window(1, {{1000, 1300}, "regular"}, rows);
  model::RecordedStep step;
  step.span = {1000, 1100};
  writer->add_step(1, step);
  writer->finish();
  const auto timeline = read_recording(path());
  ASSERT_TRUE(timeline.has_value()) << timeline.error().to_string();
  const model::RankTimeline& rank = timeline->ranks.front();
  int validations = 0;
  for (const model::NameId name : rank.annotations.name) {
    validations += rank.name(name) == "validation" ? 1 : 0;
  }
  EXPECT_EQ(validations, 1);
}

TEST_F(Recording, IsItsOwnersAlone) {
  const auto writer = create(path());
  writer->set_meta("a", "b");
  writer->commit();
  struct stat info {};
  for (const char* suffix : {"", "-wal", "-shm"}) {
    ASSERT_EQ(::stat((path() + suffix).c_str(), &info), 0) << suffix;
    EXPECT_EQ(info.st_mode & 0777U, 0600U) << suffix;
  }
}

TEST_F(Recording, IsReadableWhileItGrows) {
  const auto writer = create(path());
  fill(*writer);
  EXPECT_FALSE(read_recording(path()).has_value());  // nothing was committed
  writer->commit();
  const auto timeline = read_recording(path());
  ASSERT_TRUE(timeline.has_value()) << timeline.error().to_string();
  EXPECT_FALSE(timeline->ranks.front().run->ended);
  writer->add_info(1, 900, "later", "yes");
  writer->commit();
  EXPECT_EQ(read_recording(path())->ranks.front().run->info.at("later"), "yes");
}

TEST_F(Recording, KeepsWhatWasCommittedWhenItsWriterIsKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    auto writer = Writer::create(path());
    if (!writer) ::_exit(1);
    fill(**writer);
    (*writer)->commit();
    (*writer)->set_meta("not", "committed");
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto timeline = read_recording(path());
  ASSERT_TRUE(timeline.has_value()) << timeline.error().to_string();
  EXPECT_EQ(timeline->ranks.front().activities.size(), 5U);
}

TEST_F(Recording, RefusesToOverwrite) {
  std::ofstream(path()) << "something";
  const auto writer = Writer::create(path());
  ASSERT_FALSE(writer.has_value());
  EXPECT_EQ(writer.error().kind, base::ErrorKind::kUsage);
  std::ifstream file(path());
  std::string text;
  file >> text;
  EXPECT_EQ(text, "something");
}

TEST_F(Recording, StopsWhereTheDiskIsFull) {
  // A limit on the file's size stands in for a full disk.
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    auto writer = Writer::create(path());
    if (!writer) ::_exit(1);
    const rlimit limit{.rlim_cur = 400'000, .rlim_max = 400'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    fill(**writer);
    (*writer)->commit();
    for (int i = 0; i < 200 && !(*writer)->failed(); ++i) {
      const DetailRows rows = rows_of(**writer, 100'000 + 1000 * i, 10);
      (*writer)->add_window(1, {{100'000 + 1000 * i, 101'000 + 1000 * i}, "regular"}, rows);
      (*writer)->add_note(0, "info", std::string(3000, 'x'));
      (*writer)->commit();
    }
    ::_exit((*writer)->failed() && !(*writer)->error().message.empty() ? 0 : 2);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const auto timeline = read_recording(path());
  ASSERT_TRUE(timeline.has_value()) << timeline.error().to_string();
}

TEST_F(Recording, ComparesRanksOverTheTimeThatAllKept) {
  const auto writer = create(path());
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    writer->put_process({.id = rank + 1,
                         .pid = 42,
                         .start = 0,
                         .rank = static_cast<std::int32_t>(1 - rank),
                         .world_size = 2,
                         .program = "python"});
    const std::int64_t first = 1000 + 100 * rank;
    writer->add_window(rank + 1, {{first, first + 300}, "regular"}, rows_of(*writer, first, 3));
  }
  writer->finish();
  const auto timeline = read_recording(path());
  ASSERT_TRUE(timeline.has_value()) << timeline.error().to_string();
  ASSERT_EQ(timeline->ranks.size(), 2U);
  EXPECT_EQ(timeline->ranks[0].info.rank, 0);
  EXPECT_EQ(timeline->ranks[0].activities.size(), 2U);  // 1100 to 1300 is common
  EXPECT_EQ(timeline->ranks[1].activities.size(), 2U);
}

}  // namespace
}  // namespace pyrometer::recording

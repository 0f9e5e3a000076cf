// What is written is read again, also while it is being written and after a kill.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <string>

#include "recording/database.h"
#include "recording/reader.h"
#include "recording/writer.h"

namespace pyrometer::recording {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class Recording : public ::testing::Test {
 protected:
  Recording() : folder_(fs::temp_directory_path() / ("pyro_test_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Recording() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const char* name = "run.pyro") const {
    return (folder_ / name).string();
  }

  static std::unique_ptr<Writer> create(const std::string& path) {
    auto writer = Writer::create(path);
    EXPECT_TRUE(writer.has_value()) << (writer ? "" : writer.error().to_string());
    return writer ? std::move(*writer) : nullptr;
  }

  // Steps of 100 ns from `first` on, one kernel of 60 ns in each, launched 20 ns before it runs.
  static DetailRows rows_of(Writer& writer, std::int64_t first, int steps) {
    const NameId kernel = writer.names().intern("ampere_sgemm_128x64_tn");
    const NameId launch = writer.names().intern("cudaLaunchKernel");
    DetailRows rows;
    for (int i = 0; i < steps; ++i) {
      const std::int64_t begin = first + 100 * i;
      const auto id = static_cast<std::uint32_t>(begin);
      rows.activities.push_back({.start = begin + 30,
                                 .end = begin + 90,
                                 .name = kernel,
                                 .config = 1,
                                 .correlation = id,
                                 .stream = 7});
      rows.api_calls.push_back({.start = begin + 10,
                                .end = begin + 15,
                                .name = launch,
                                .thread = 42,
                                .correlation = id});
      rows.ranges.push_back({.start = begin,
                             .end = begin + 100,
                             .a = i,
                             .b = 32,
                             .thread = 42,
                             .type = RangeType::kStep});
    }
    return rows;
  }

  static void fill(Writer& writer) {
    writer.set_meta("start_ns", "500");
    writer.put_process({.id = 1, .pid = 42, .parent_pid = 1, .start = 600, .program = "python"});
    writer.put_device(1, {.ordinal = 0, .name = "NVIDIA H200", .multiprocessors = 132});
    writer.add_config(1, {.grid = {66, 2, 1}, .block = {128, 1, 1}, .registers_per_thread = 40});
    writer.add_info(1, 700, "torch.version", "2.11.0");
    writer.add_info(1, 800, "torch.version", "2.11.1");
    writer.add_window(1, {{1000, 1300}, "regular"}, rows_of(writer, 1000, 3));
    writer.add_window(1, {{5000, 5200}, "regular"}, rows_of(writer, 5000, 2));
    model::RecordedStep step;
    step.span = {1000, 1100};
    step.samples = 32;
    step.captured = true;
    at(step.causes, model::Cause::kComputeMath) = 60;
    at(step.causes, model::Cause::kIdleHost) = 40;
    writer.add_step(1, step);
    step.captured = false;
    step.index = 1;
    step.span = {1100, 1200};
    step.samples = -1;
    writer.add_step(1, step);
    writer.put_host_line(1, writer.names().intern("stack host train.py:9 f | train.py:9 f"), 3);
    writer.put_blocking_line(1, writer.names().intern("item train.py:58"), 4, 400, 150);
    writer.put_blocking_line(1, writer.names().intern("to model/a b.py:7"), 1, 500, 500);
    // None that a recorder writes: longer than the run.
    writer.put_blocking_line(1, writer.names().intern("cpu train.py:60"), 1, 1LL << 60U, 1);
    writer.add_loss(1, 900, "kernel", 17);
  }

 private:
  fs::path folder_;
};

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

TEST_F(Recording, SaysWhatIsWrongWithAFile) {
  EXPECT_EQ(read_recording(path("none.pyro")).error().kind, base::ErrorKind::kNotFound);
  std::ofstream(path("text.pyro")) << std::string(5000, 'x');
  EXPECT_EQ(read_recording(path("text.pyro")).error().kind, base::ErrorKind::kFormat);
  {
    const auto writer = create(path());
    fill(*writer);
    writer->finish();
  }
  fs::copy_file(path(), path("cut.pyro"));
  fs::resize_file(path("cut.pyro"), 3 * 4096);
  const auto cut = read_recording(path("cut.pyro"));
  ASSERT_FALSE(cut.has_value());
  EXPECT_THAT(cut.error().to_string(), HasSubstr("cut.pyro"));
}

// Bytes changed anywhere: an error or a timeline, never a crash.
TEST_F(Recording, SurvivesDamageAnywhere) {
  {
    const auto writer = create(path());
    fill(*writer);
    writer->finish();
  }
  std::ifstream file(path(), std::ios::binary);
  const std::string sound((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  std::uint32_t random = 12345;
  const auto next = [&random] { return random = random * 1664525U + 1013904223U; };
  for (int round = 0; round < 300; ++round) {
    std::string bytes = sound;
    for (int i = 0; i < 1 + round % 20; ++i) {
      bytes[next() % bytes.size()] = static_cast<char>(next() >> 24U);
    }
    std::ofstream(path("damaged.pyro"), std::ios::binary | std::ios::trunc) << bytes;
    const auto timeline = read_recording(path("damaged.pyro"));
    if (!timeline) {
      EXPECT_FALSE(timeline.error().message.empty());
    }
  }
}

// A step that lost some of its kernels would look idle: it is left out whole.
class DamagedRecording : public Recording {
 protected:
  static constexpr int kWindows = 300;

  void SetUp() override {
    const auto writer = create(path());
    writer->put_process({.id = 1, .pid = 42, .start = 600, .program = "python"});
    writer->put_device(1, {.ordinal = 0, .name = "NVIDIA H200", .multiprocessors = 132});
    for (std::int64_t i = 0; i < kWindows; ++i) {
      const std::int64_t first = 1000 * (i + 1);
      writer->add_window(1, {{first, first + 300}, "regular"}, rows_of(*writer, first, 3));
    }
    writer->finish();
  }

  // Whether something was left. Whatever is left is whole, and what is missing is said.
  static bool expect_whole(const std::string& file) {
    const auto timeline = read_recording(file);
    if (!timeline) {
      EXPECT_FALSE(timeline.error().message.empty());
      return false;
    }
    const model::RankTimeline& rank = timeline->ranks.front();
    EXPECT_EQ(rank.run->kept, 100 * static_cast<std::int64_t>(rank.activities.size()));
    EXPECT_GT(rank.activities.size(), 0U);
    EXPECT_TRUE(rank.activities.size() == 3U * kWindows || rank.stats.lost_data());
    return true;
  }

  static void change(const std::string& file, const char* sql) {
    auto database = Database::open(file, OpenMode::kExisting);
    ASSERT_TRUE(database.has_value());
    ASSERT_TRUE(database->execute(sql)) << database->last_error(sql).to_string();
  }
};

TEST_F(DamagedRecording, LosesTheStepsOfADamagedPage) {
  constexpr std::uintmax_t kPage = 4096;
  const std::string file = path("page.pyro");
  int readable = 0;
  for (std::uintmax_t page = 1; page < fs::file_size(path()) / kPage; ++page) {
    fs::copy_file(path(), file, fs::copy_options::overwrite_existing);
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    out.seekp(static_cast<std::streamoff>(page * kPage));
    out << std::string(kPage, '\0');
    out.close();
    const auto timeline = read_recording(file);
    if (!timeline) continue;
    ++readable;
    const model::RankTimeline& rank = timeline->ranks.front();
    EXPECT_EQ(rank.run->kept, 100 * static_cast<std::int64_t>(rank.activities.size())) << page;
  }
  EXPECT_GT(readable, 5);
}

TEST_F(DamagedRecording, ReadsAFileThatIsCutOffAsFarAsItGoes) {
  const std::string file = path("cut.pyro");
  int readable = 0;
  for (std::uintmax_t size = fs::file_size(path()) - 1; size > 5000; size -= 4999) {
    fs::copy_file(path(), file, fs::copy_options::overwrite_existing);
    fs::resize_file(file, size);
    SCOPED_TRACE(size);
    if (expect_whole(file)) ++readable;
  }
  EXPECT_GT(readable, 3);
}

TEST_F(DamagedRecording, LosesTheStepsOfRowsThatCannotBe) {
  const char* const kChanges[] = {
      "UPDATE activity SET end_ns = 9223372036854775807 WHERE rowid IN (10, 500)",
      "UPDATE activity SET start_ns = -9223372036854775807 WHERE rowid = 10",
      "UPDATE activity SET end_ns = start_ns - 1 WHERE rowid % 200 = 7",
      "UPDATE activity SET device = 65535 WHERE rowid = 10",
      "UPDATE activity SET bytes = 9223372036854775807 WHERE rowid = 10",
      "UPDATE host_range SET end_ns = -1 WHERE rowid = 10",
      "UPDATE kept_window SET start_ns = 9223372036854775807 WHERE rowid < 9",
  };
  for (const char* const sql : kChanges) {
    const std::string file = path("changed.pyro");
    fs::copy_file(path(), file, fs::copy_options::overwrite_existing);
    change(file, sql);
    EXPECT_TRUE(expect_whole(file)) << sql;
  }
  change(path(), "UPDATE kept_window SET end_ns = -1");
  const auto none = read_recording(path());
  ASSERT_FALSE(none.has_value());
  EXPECT_THAT(none.error().message, HasSubstr("no step of the recording can be read whole"));
}

// Ten million names to make room for would take a gigabyte.
TEST_F(DamagedRecording, MakesNoRoomForNamesThatTheFileCannotHold) {
  change(path(), "UPDATE name SET id = 9999999 WHERE id = 2");
  const auto timeline = read_recording(path());
  ASSERT_TRUE(timeline.has_value());
  const model::RankTimeline& rank = timeline->ranks.front();
  EXPECT_LT(rank.names.size(), 1000U);
  const auto& counters = rank.stats.counters();
  EXPECT_TRUE(std::any_of(counters.begin(), counters.end(),
                          [](const auto& one) { return one.kind == "impossible_name"; }));
}

// Steps in a row of which no sum may overflow.
TEST_F(Recording, LeavesOutStepsThatCannotBe) {
  const auto writer = create(path());
  writer->put_process({.id = 1, .pid = 42, .start = 600, .program = "python"});
  constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();
  model::RecordedStep step;
  step.count = 1;
  step.device = 0;
  step.captured = true;
  step.span = {1000, 2000};
  step.longest = 1000;
  step.causes[0] = 1000;
  writer->add_step(1, step);
  step.causes[0] = step.causes[1] = kHuge / 2;  // their sum overflows
  writer->add_step(1, step);
  step.causes = {};
  step.causes[0] = 999;  // does not add up
  writer->add_step(1, step);
  step.causes[0] = 1000;
  step.span = {2000, std::numeric_limits<std::int64_t>::min()};
  writer->add_step(1, step);
  writer->finish();
  const auto timeline = read_recording(path());
  ASSERT_TRUE(timeline.has_value()) << timeline.error().to_string();
  EXPECT_EQ(timeline->ranks.front().run->steps.size(), 1U);
  EXPECT_TRUE(timeline->ranks.front().stats.lost_data());
}

TEST_F(DamagedRecording, TakesAnyThreadId) {
  change(path(),
         "UPDATE api_call SET thread = 4294967295; UPDATE host_range SET thread = 4294967295");
  const auto timeline = read_recording(path());
  ASSERT_TRUE(timeline.has_value());
  ASSERT_EQ(timeline->ranks.front().threads.size(), 1U);
  EXPECT_EQ(timeline->ranks.front().threads[0].tid, "4294967295");
}

// It could compute without end.
TEST_F(DamagedRecording, RefusesAView) {
  change(path(), "DROP TABLE sample; CREATE VIEW sample AS SELECT 1 AS metric");
  const auto timeline = read_recording(path());
  ASSERT_FALSE(timeline.has_value());
  EXPECT_THAT(timeline.error().message, HasSubstr("view"));
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

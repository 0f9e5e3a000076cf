// Files that are damaged, cut off or forged: what is sound of them is read, and what is not is
// said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "recording/database.h"
#include "recording/reader.h"
#include "recording/writer.h"
#include "tests/support/recording_fixture.h"

namespace pyrometer::recording {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace pyrometer::recording

// What must hold for any trace: the order of events, the size of blocks and the number of threads
// change nothing; damage anywhere neither crashes the import nor invents anything.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "base/byte_source.h"
#include "base/decompress.h"
#include "importers/kineto/kineto.h"
#include "tests/support/import_text.h"
#include "tests/support/shared.h"
#include "tests/support/timeline_text.h"
#include "tests/support/trace_text.h"

namespace pyrometer::importers::kineto {
namespace {

using testing::counter_lines;
using testing::import_all;
using testing::import_one;
using testing::timeline_lines;
using testing::trace_of;

TEST(KinetoProperty, OrderOfEventsDoesNotMatter) {
  std::vector<std::string> events = testing::sample_events(12);
  // Rows that agree in everything but a detail, and pairs of begin and end.
  for (const char* bytes : {"1", "2", "3"}) {
    std::string event =
        R"json({"ph": "X", "cat": "gpu_memset", "name": "Memset (Device)", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {"device": 1, "stream": 7, "bytes": )json";
    events.push_back(event + bytes + "}}");
  }
  for (const char* phase : {"B", "B", "E", "E", "B", "E"}) {
    events.push_back(R"({"ph": ")" + std::string(phase) +
                     R"(", "cat": "cpu_op", "name": "n", "pid": 3, "tid": 4, "ts": 50})");
  }
  const auto want = timeline_lines(import_one(trace_of(events)));
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::shuffle(events.begin(), events.end(), random);
    ASSERT_EQ(timeline_lines(import_one(trace_of(events))), want) << "round " << round;
  }
}

TEST(KinetoProperty, SizeOfBlocksDoesNotMatter) {
  const std::string text = trace_of(
      testing::sample_events(8),
      R"("deviceProperties": [{"id": 0, "name": "a } , { \" b"}], "distributedInfo": {"rank": 1})",
      R"("traceName": "x", "baseTimeNanoseconds": 1000)");
  const auto want = timeline_lines(import_one(text));
  for (std::size_t block = 1; block < text.size() + 100; block += 1 + block / 9) {
    const model::RankTimeline t = import_one(text, block);
    ASSERT_EQ(timeline_lines(t), want) << "block " << block;
    ASSERT_TRUE(counter_lines(t).empty()) << "block " << block;
  }
}

TEST(KinetoProperty, NumberOfThreadsDoesNotMatter) {
  const std::string one = trace_of(testing::sample_events(300));
  // A second document with a header between the lists makes guesses about cuts go wrong.
  const std::string two = trace_of(testing::sample_events(40), R"("x": [{"a": 1}, {"b": 2}])");
  const std::string text = one + two + one;
  const auto want = import_all(text);
  ASSERT_TRUE(want.has_value());
  for (const unsigned threads : {2U, 3U, 5U}) {
    for (const std::size_t block : {300U, 1000U, 5000U, 60000U}) {
      const auto got = import_all(text, block, threads);
      ASSERT_TRUE(got.has_value());
      ASSERT_EQ(got->size(), want->size());
      for (std::size_t i = 0; i < want->size(); ++i) {
        ASSERT_EQ(timeline_lines((*got)[i].timeline), timeline_lines((*want)[i].timeline))
            << threads << " threads, blocks of " << block;
        ASSERT_TRUE(counter_lines((*got)[i].timeline).empty());
      }
    }
  }
}

// Flips, removes, repeats or inserts something at a few random places.
std::string damage(std::string text, std::mt19937& random) {
  const std::vector<std::string> junk = {
      "\"",         "\\",  "{", "}", "[", "]", ",", "\n", "inf", "\xFF", std::string(1, '\0'),
      "[W1] {x}\n", "\": "};
  for (std::size_t n = 1 + random() % 4; n > 0; --n) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(random());
        break;
      case 1:
        text.erase(at, 1 + random() % 30);
        break;
      case 2:
        text.insert(at, text.substr(random() % text.size(), random() % 200));
        break;
      default:
        text.insert(at, junk[random() % junk.size()]);
    }
    if (text.empty()) return "x";
  }
  return text;
}

TEST(KinetoProperty, DamageLosesLittle) {
  const std::string sound = trace_of(testing::sample_events(30));
  const model::RankTimeline whole = import_one(sound);
  const std::size_t rows = timeline_lines(whole).size();
  std::mt19937 random(11);
  std::size_t kept = 0;
  constexpr int kRounds = 300;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = damage(sound, random);
    const auto traces =
        import_all(text, 1 + random() % 8000, static_cast<unsigned>(1 + random() % 3));
    if (!traces) continue;
    for (const ImportedTrace& trace : *traces) {
      const model::ActivityTable& a = trace.timeline.activities;
      for (model::Index i = 0; i < a.size(); ++i) ASSERT_LE(a.start[i], a.end[i]);
      kept += timeline_lines(trace.timeline).size();
    }
  }
  // A few broken places of some hundred bytes in 120 kB: nearly everything is still there.
  EXPECT_GT(kept, rows * kRounds * 97 / 100);
}

std::string read_gzip(const std::string& path) {
  auto file = base::open_file(path);
  EXPECT_TRUE(file.has_value());
  const auto source = base::gunzip(std::move(*file));
  std::string text;
  std::vector<char> block(1 << 16);
  while (true) {
    const auto got = source->read(block.data(), block.size());
    if (!got || *got == 0) return text;
    text.append(block.data(), *got);
  }
}

class KinetoRecorded : public ::testing::TestWithParam<const char*> {};

TEST_P(KinetoRecorded, BlocksThreadsAndOrderDoNotMatter) {
  const std::string path = testing::shared_dir() + "/traces/h200/" + GetParam();
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  const std::string text = read_gzip(path);
  const model::RankTimeline whole = import_one(text);
  EXPECT_TRUE(counter_lines(whole).empty());
  EXPECT_EQ(whole.info.json_bytes, static_cast<std::int64_t>(text.size()));
  const auto want = timeline_lines(whole);
  EXPECT_EQ(timeline_lines(import_one(text, 5000)), want);
  EXPECT_EQ(timeline_lines(import_one(text, 20000, 3)), want);

  // Events stand between "[\n" and "\n  ]", separated by ",\n  {".
  const std::size_t first = text.find('[', text.find("\"traceEvents\"")) + 1;
  const std::size_t last = text.rfind("\n  ],");
  std::vector<std::string> events;
  for (std::size_t at = first; at < last;) {
    std::size_t end = text.find("\n  },\n  {", at);
    end = end == std::string::npos || end > last ? last : end + 4;
    events.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  EXPECT_EQ(static_cast<std::int64_t>(events.size()), whole.info.event_count);
  std::mt19937 random(3);
  std::shuffle(events.begin(), events.end(), random);
  std::string shuffled = text.substr(0, first);
  for (std::size_t i = 0; i < events.size(); ++i) shuffled += (i > 0 ? "," : "") + events[i];
  shuffled += text.substr(last);
  EXPECT_EQ(timeline_lines(import_one(shuffled)), want);
}

INSTANTIATE_TEST_SUITE_P(H200, KinetoRecorded,
                         ::testing::Values("launch_bound_mlp.trace.json.gz",
                                           "h2d_pageable.trace.json.gz",
                                           "ddp_imbalance.rank0.trace.json.gz"));

}  // namespace
}  // namespace pyrometer::importers::kineto

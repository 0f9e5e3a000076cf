#include "analysis/input_waits.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/trace_script.h"

namespace pyrometer::analysis {
namespace {

using model::FactId;
using model::LoaderKind;
using model::TimeNs;
using testing::Analysed;
using testing::TraceScript;

constexpr TimeNs kMs = 1'000'000;
constexpr TimeNs kStep = 100 * kMs;
constexpr const char* kWorkers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
constexpr const char* kOwn = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

// Six steps on the CPU, each with a wait of 10 ms for the workers; the fourth begins an epoch: a
// validation with a loader of its own, then workers that start and take long for their first batch.
Analysed epochs(bool recorded) {
  TraceScript script;
  for (int s = 0; s < 6; ++s) {
    const TimeNs at = s * kStep;
    script.step(s, at, at + kStep);
    if (s == 3) {
      script.note("validation", at, at + 40 * kMs);
      for (int i = 0; i < 4; ++i) {
        script.note(kOwn, at + i * 10 * kMs, at + (i + 1) * 10 * kMs - 1);
      }
      script.note("pyrometer.loader_start#workers", at + 40 * kMs, at + 45 * kMs);
      script.note(kWorkers, at + 45 * kMs, at + 75 * kMs);
    } else {
      script.note(kWorkers, at, at + 10 * kMs);
    }
  }
  if (recorded) script.builder().timeline().run = std::make_shared<model::RecordedRun>();
  return script.run(measure_input_waits);
}

TEST(InputWaits, OfAValidationAreNotTheTrainings) {
  const Analysed r = epochs(true);
  const model::InputWaits& input = r.analysis.pauses.input;
  EXPECT_EQ(input.kind, LoaderKind::kMultiProcess);
  EXPECT_EQ(input.waits, 6);
  EXPECT_EQ(input.total, 80 * kMs);
  EXPECT_EQ(input.in_validation, 40 * kMs - 4);
}

// Waits of 10 ms in steps of 100 ms: what the recording knows of the batch stands in the name.
TEST(InputWaits, TellWhereTheBatchWas) {
  for (const bool recorded : {true, false}) {
    TraceScript script;
    const char* const batches[] = {"", " (batch ready)", " (batch ready)", " (batch not pinned)"};
    for (int s = 0; s < 4; ++s) {
      const TimeNs at = s * kStep;
      script.step(s, at, at + kStep);
      script.note(std::string(kWorkers) + batches[s], at, at + 10 * kMs);
    }
    if (recorded) script.builder().timeline().run = std::make_shared<model::RecordedRun>();
    const Analysed r = script.run(measure_input_waits);
    EXPECT_NEAR(r.fact(FactId::kInputWaitShare), 0.1, 1e-9);
    EXPECT_EQ(r.missing(FactId::kInputReadyShare), !recorded);
    if (!recorded) continue;
    EXPECT_NEAR(r.fact(FactId::kInputReadyShare), 0.05, 1e-9);
    EXPECT_NEAR(r.fact(FactId::kInputUnpinnedShare), 0.025, 1e-9);
    ASSERT_EQ(r.analysis.pauses.input.ready.size(), 2U);
    EXPECT_EQ(r.analysis.pauses.input.ready[0].start, kStep);
  }
}

TEST(InputWaits, StartsOfWorkersAreMarkedInRecordings) {
  const Analysed r = epochs(true);
  EXPECT_EQ(r.fact(FactId::kInputIteratorStarts), 1);
  EXPECT_EQ(r.analysis.pauses.input.iterator_start_time, (5 + 30 - 10) * kMs);
}

// Four steps whose workers start in the first and the third; the run's own count of the first.
Analysed starts_from(std::int64_t index) {
  TraceScript script;
  for (int s = 0; s < 4; ++s) {
    const TimeNs at = s * kStep;
    script.step(s, at, at + kStep);
    const bool starts = s == 0 || s == 2;
    if (starts) script.note("pyrometer.loader_start#workers", at, at + 20 * kMs);
    script.note(kWorkers, at + 20 * kMs, at + (starts ? 60 : 30) * kMs);
  }
  auto run = std::make_shared<model::RecordedRun>();
  model::RecordedStep first;
  first.index = index;
  first.span = {0, kStep};
  run->steps.push_back(first);
  script.builder().timeline().run = run;
  return script.run(measure_input_waits);
}

// Every run starts its workers once: that is not "again and again".
TEST(InputWaits, TheRunsFirstStartIsNoNewOne) {
  const Analysed r = starts_from(0);
  EXPECT_EQ(r.fact(FactId::kInputIteratorStarts), 1);
  EXPECT_EQ(r.analysis.pauses.input.iterator_start_time, (20 + 40 - 10) * kMs);
}

TEST(InputWaits, AStartIsANewOneWhereTheRunBeganEarlier) {
  EXPECT_EQ(starts_from(1000).fact(FactId::kInputIteratorStarts), 2);
}

// Launches tell a new iterator from the next batch: without any, nothing does.
TEST(InputWaits, StartsAreNotGuessedWithoutADevice) {
  const Analysed r = epochs(false);
  EXPECT_TRUE(r.missing(FactId::kInputIteratorStarts));
  EXPECT_EQ(r.analysis.pauses.input.iterator_starts, 0);
}

}  // namespace
}  // namespace pyrometer::analysis

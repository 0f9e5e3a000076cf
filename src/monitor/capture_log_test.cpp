#include "monitor/capture_log.h"

#include <gtest/gtest.h>

namespace pyrometer::monitor {
namespace {

using ring::CaptureReason;

TEST(CaptureLog, KnowsWhatWasWatched) {
  CaptureLog log;
  EXPECT_FALSE(log.covers({0, 1}));
  log.add(10, true, CaptureReason::kStarted);
  log.add(50, false, CaptureReason::kDutyCycle);
  log.add(70, true, CaptureReason::kDutyCycle);
  EXPECT_TRUE(log.covers({10, 50}));
  EXPECT_FALSE(log.covers({9, 20}));
  EXPECT_FALSE(log.covers({40, 60}));
  EXPECT_FALSE(log.covers({60, 80}));
  EXPECT_TRUE(log.covers({70, 1000}));
  EXPECT_TRUE(log.changes_in({40, 60}));
  EXPECT_FALSE(log.changes_in({20, 40}));
}

TEST(CaptureLog, NothingThatIsDisturbedStandsForTheProgram) {
  CaptureLog log;
  log.add(10, true, CaptureReason::kStarted);
  log.disturb(100);
  EXPECT_TRUE(log.covers({20, 100}));
  EXPECT_FALSE(log.covers({90, 101}));
  EXPECT_FALSE(log.covers({5000, 6000})) << "its end is not known yet";
  EXPECT_TRUE(log.changes_in({5000, 6000}));
  log.disturb_until(200);
  EXPECT_FALSE(log.covers({150, 160}));
  EXPECT_TRUE(log.covers({200, 300}));
  EXPECT_FALSE(log.changes_in({200, 300}));
  log.forget(201);
  EXPECT_TRUE(log.covers({150, 160})) << "forgotten";
}

TEST(CaptureLog, ATimeToldAfterwardsLeavesAnOpenWindowOpen) {
  CaptureLog log;
  log.add(0, true, CaptureReason::kStarted);
  log.disturb(500);
  log.disturb({100, 200});
  EXPECT_FALSE(log.covers({150, 160}));
  EXPECT_TRUE(log.changes_in({50, 101}));
  EXPECT_FALSE(log.changes_in({200, 300}));
  log.disturb_until(600);
  EXPECT_TRUE(log.changes_in({550, 560}));
  EXPECT_FALSE(log.changes_in({600, 700}));
  EXPECT_TRUE(log.changes_in({190, 210}));
}

}  // namespace
}  // namespace pyrometer::monitor

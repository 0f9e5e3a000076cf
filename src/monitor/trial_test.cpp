#include "monitor/trial.h"

#include <gmock/gmock.h>

namespace pyrometer::monitor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TrialEnvironment, SaysWhatIsAsked) {
  EXPECT_THAT(trial_environment({}), IsEmpty());
  TrialOptions trial;
  trial.with = {{"loader.workers", "4"}, {"gc", "tune"}};
  trial.alternate = {{"precision.tf32", "on"}};
  trial.block_steps = 8;
  trial.stop_after_steps = 200;
  trial.seed = 7;
  trial.losses = 20;
  EXPECT_THAT(
      trial_environment(trial),
      ElementsAre("PYROMETER_WITH=loader.workers=4;gc=tune",
                  "PYROMETER_ALTERNATE=precision.tf32=on", "PYROMETER_ALTERNATE_BLOCK=8",
                  "PYROMETER_STOP_AFTER=steps=200", "PYROMETER_SEED=7", "PYROMETER_LOSS=20"));
  trial = {};
  trial.stop_after_seconds = 2.5;
  EXPECT_THAT(trial_environment(trial), ElementsAre("PYROMETER_STOP_AFTER=seconds=2.5"));
  trial.stop_after_steps = 12;
  EXPECT_THAT(trial_environment(trial), ElementsAre("PYROMETER_STOP_AFTER=seconds=2.5,steps=12"));
}

TEST(Override, IsSoAlready) {
  EXPECT_TRUE(is_so_already("loader.workers", "cannot: because the loader has 0 workers already"));
  EXPECT_TRUE(is_so_already("optimizer.fused", "cannot: because it is fused already"));
  EXPECT_FALSE(is_so_already("optimizer.foreach", "cannot: because it is fused already"));
  EXPECT_FALSE(is_so_already("compile", "cannot: because it is compiled already"));
  EXPECT_FALSE(is_so_already("gc", "cannot: because of the weather"));
  EXPECT_FALSE(is_so_already("gc", "applied: already"));
}

TEST(OverrideLog, TellsOnceAndKeepsTheLastWord) {
  OverrideLog log;
  TrialOptions trial;
  trial.with = {{"gc", "tune"}, {"compile", "default"}, {"threads", "2"}};
  EXPECT_EQ(log.take(1, "gc", "waiting: for the first step"), "");
  EXPECT_EQ(log.take(1, "gc", "applied: tuned"), "");
  EXPECT_EQ(log.take(2, "gc", "applied: tuned"), "");
  EXPECT_EQ(log.take(1, "compile", "cannot: because of the weather"),
            "override compile cannot: because of the weather");
  EXPECT_EQ(log.take(2, "compile", "cannot: because of the weather"), "");
  EXPECT_THAT(log.statuses(),
              ElementsAre(OverrideStatus{"gc", "applied: tuned", 2},
                          OverrideStatus{"compile", "cannot: because of the weather", 2}));
  EXPECT_THAT(log.unapplied(trial),
              ElementsAre("override threads was not applied: no process that trains with PyTorch "
                          "loaded the hook"));
  (void)log.take(2, "gc", "waiting: for the first step");
  EXPECT_THAT(log.unapplied(trial),
              ElementsAre("override gc was not applied in every process: waiting: for the first "
                          "step",
                          "override threads was not applied: no process that trains with PyTorch "
                          "loaded the hook"));
}

}  // namespace
}  // namespace pyrometer::monitor

#include "tui/screen.h"

#include <gtest/gtest.h>

#include <random>

#include "tui/keys.h"
#include "tui/tui_testing.h"

namespace pyrometer::tui {
namespace {

using readout::Value;

std::string text(const Sight& sight, Ui ui, int width, int height, Looks looks = {}) {
  return compose(sight, ui, History(), looks, width, height).grid.text();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(Screen, ShowsGpusAndProcesses) {
  TestSight seen(2);
  seen.snapshot->devices[1].processes = {test_process(4242, "alice", "python", 2.0 * (1 << 30))};
  const std::string shown = text(seen.sight, {}, 100, 24);
  EXPECT_TRUE(has(shown, "node1"));
  EXPECT_TRUE(has(shown, "live"));
  EXPECT_TRUE(has(shown, "60.0/140.0"));
  EXPECT_TRUE(has(shown, "4242 alice"));
  EXPECT_TRUE(has(shown, "2.00 GiB"));
}

TEST(Screen, MarksUtilizationThatStandsForSmActive) {
  TestSight seen(1);
  seen.snapshot->devices[0].values.insert_or_assign(
      MetricId::kGpuSmActive, Value::missing(sources::Absence::kNotSupported));
  seen.snapshot->devices[0].values.insert_or_assign(MetricId::kGpuUtil, Value::number(0.87));
  const std::string shown = text(seen.sight, {}, 100, 24);
  EXPECT_TRUE(has(shown, "87*"));
  EXPECT_TRUE(has(shown, "* utilization"));
  EXPECT_TRUE(has(text(seen.sight, {.overlay = Overlay::kWhy}, 100, 24), "SM active"));
}

TEST(Screen, SaysHowOldValuesAre) {
  TestSight seen(1);
  seen.sight.live.sources[0].state = sources::SourceState::kStale;
  seen.sight.live.sources[0].last_good_ns = seen.sight.now_ns - 12'000'000'000;
  EXPECT_TRUE(has(text(seen.sight, {}, 100, 24), "nvml hangs: values are 12 s old"));
}

TEST(Screen, SaysWhyThereIsNothing) {
  TestSight seen(0);
  seen.snapshot->problem =
      base::Error{.kind = base::ErrorKind::kNotFound, .message = "no driver", .advice = "Load it"};
  const std::string shown = text(seen.sight, {}, 100, 24);
  EXPECT_TRUE(has(shown, "no driver. Load it."));
  EXPECT_TRUE(has(shown, "goes on looking"));
}

TEST(Screen, ShowsXidLostAndThrottling) {
  TestSight seen(3);
  seen.snapshot->devices[0].values.insert_or_assign(MetricId::kGpuXid, Value::number(79));
  seen.snapshot->devices[1].state = readout::DeviceState::kLost;
  seen.snapshot->devices[2].values.insert_or_assign(MetricId::kGpuThrottlePowerCap,
                                                    Value::number(1));
  const std::string shown = text(seen.sight, {}, 100, 24);
  EXPECT_TRUE(has(shown, "Xid 79"));
  EXPECT_TRUE(has(shown, "lost"));
  EXPECT_TRUE(has(shown, "power cap"));
}

TEST(Screen, ShowsARecordedTraining) {
  TestSight seen(1);
  seen.snapshot->devices[0].processes = {test_process(7, "alice", "python", 1e9)};
  (*seen.trainings)[7] = {.steps = 120,
                          .step_ns = 12.5e6,
                          .samples_per_second = 800,
                          .shares = {{"matrix math", model::CauseGroup::kCompute, 0.6},
                                     {"waiting for input", model::CauseGroup::kIdle, 0.4}},
                          .finding = "The loader is too slow"};
  const std::string overview = text(seen.sight, {}, 120, 24);
  EXPECT_TRUE(has(overview, "step 120 · 12.5 ms/step · 800 samples/s"));
  EXPECT_TRUE(has(overview, "████████████░░░░░░░░ matrix math 60%  waiting for input 40%"));
  EXPECT_FALSE(has(overview, "The loader is too slow"));
  EXPECT_TRUE(has(text(seen.sight, {.view = View::kProcesses}, 120, 24), "The loader is too slow"));
}

TEST(Screen, HasAMessageThatFitsWhereThereIsNoRoom) {
  const TestSight seen(1);
  EXPECT_EQ(text(seen.sight, {}, 10, 3), "\ntoo small\n\n");
  EXPECT_EQ(text(seen.sight, {}, 1, 1), "t\n");
  EXPECT_EQ(text(seen.sight, {}, 0, 0), "");
}

TEST(Screen, SpellsEverythingInAscii) {
  TestSight seen(2);
  seen.snapshot->devices[0].processes = {test_process(7, "ünal", "学習", 1e9)};
  (*seen.trainings)[7] = {.steps = 1, .shares = {{"x", model::CauseGroup::kIdle, 1}}};
  for (const View view : {View::kOverview, View::kDevice, View::kProcesses, View::kHelp}) {
    const std::string shown =
        text(seen.sight, {.view = view}, 100, 30, {.unicode = false, .graph = GraphStyle::kAscii});
    for (const char c : shown) ASSERT_TRUE(c == '\n' || (c >= ' ' && c < 127)) << shown;
  }
}

TEST(Screen, KeepsTheSelectedProcessInSight) {
  TestSight seen(1);
  for (int i = 0; i < 10'000; ++i) {
    seen.snapshot->devices[0].processes.push_back(test_process(1000 + i, "u", "p", 1));
  }
  Ui ui{.view = View::kProcesses};
  Screen screen = compose(seen.sight, ui, History(), {}, 100, 30);
  static_cast<void>(handle({.key = Key::kEnd}, screen, ui));
  screen = compose(seen.sight, ui, History(), {}, 100, 30);
  EXPECT_TRUE(has(screen.grid.text(), "10999"));
  static_cast<void>(handle({.key = Key::kPageUp}, screen, ui));
  screen = compose(seen.sight, ui, History(), {}, 100, 30);
  EXPECT_TRUE(has(screen.grid.text(), "10973"));
}

// Whatever is pressed, at whatever size.
TEST(Screen, BearsAnyKeysAtAnySize) {
  TestSight seen(5);
  seen.snapshot->devices[2].is_mig = true;
  for (int i = 0; i < 40; ++i) {
    seen.snapshot->devices[static_cast<std::size_t>(i % 5)].processes.push_back(
        test_process(100 + i, "üser" + std::to_string(i % 3), std::string(300, 'x') + "語\x1b", i));
    if (i % 4 == 0) (*seen.trainings)[100 + i] = {.steps = i, .finding = std::string(200, 'f')};
  }
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  Ui ui;
  History history;
  for (int i = 0; i < 5000; ++i) {
    if (i % 50 == 0) history.take(*seen.snapshot);
    const Screen screen =
        compose(seen.sight, ui, history,
                {.unicode = below(2) == 0, .graph = static_cast<GraphStyle>(below(3))}, below(210),
                below(70));
    const Event event{.key = static_cast<Key>(below(20)),
                      .letter = static_cast<char32_t>(below(3) == 0 ? below(0x3000) : below(128)),
                      .y = below(70),
                      .x = below(210)};
    if (handle(event, screen, ui) == Action::kAim && below(2) == 0) ui.overlay = Overlay::kNone;
  }
}

}  // namespace
}  // namespace pyrometer::tui

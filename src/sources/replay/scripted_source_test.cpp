#include "sources/replay/scripted_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tests/sources/source_testing.h"

namespace pyrometer::sources::replay {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;
enum : std::size_t { kFastGroup, kSlowGroup, kOnceGroup };

Subject gpu(int number) { return {.scope = Scope::kDevice, .device = number}; }

Script script_of(std::string_view text) {
  auto script = parse_script(text, "test.toml");
  EXPECT_TRUE(script) << script.error().to_string();
  return script ? *script : Script{};
}

// A source whose clock the test moves.
class Player {
 public:
  explicit Player(std::string_view text, std::vector<std::string> devices = {})
      : source({.script = script_of(text),
                .devices = std::move(devices),
                .identify_always = true,
                .clock = [this] { return now; }}) {}
  void go_to(double seconds) { now = begun + static_cast<std::int64_t>(seconds * 1e9); }
  base::Result<void> sample() {
    batch.readings.clear();
    batch.events.clear();
    for (const std::size_t group : {kFastGroup, kSlowGroup, kOnceGroup}) {
      if (auto sampled = source.sample(group, batch); !sampled) return sampled;
    }
    return {};
  }
  std::int64_t begun = 1000 * kSecond;
  std::int64_t now = begun;
  ScriptedSource source;
  Batch batch;
};

bool same(const Value& a, const Value& b) {
  return a.reason() == b.reason() && (a.text() == nullptr) == (b.text() == nullptr) &&
         (a.text() == nullptr || *a.text() == *b.text()) &&
         (a.number() == nullptr) == (b.number() == nullptr) &&
         (a.number() == nullptr || *a.number() == *b.number());
}

TEST(ScriptedSource, TellsThatItIsADemonstration) {
  Player player(demo_script());
  ASSERT_TRUE(player.source.start());
  ASSERT_TRUE(player.sample());
  EXPECT_EQ(player.source.fleet().script().host, "demo");
  std::set<int> gpus;
  for (const Reading& reading : player.batch.readings) {
    if (reading.metric == MetricId::kGpuName) {
      EXPECT_THAT(*reading.value.text(), ::testing::StartsWith("Demo "));
      gpus.insert(reading.subject.device);
    }
    if (reading.metric == MetricId::kGpuVendor) {
      EXPECT_EQ(*reading.value.text(), "Demo");
    }
  }
  EXPECT_EQ(gpus.size(), 8 + 3) << "eight GPUs and three instances";
  EXPECT_EQ(count_events(player.batch, EventKind::kDeviceFound), 8);
}

TEST(ScriptedSource, IsTheSameInWhateverStepsItIsLookedAt) {
  Player slow(demo_script());
  Player fast(demo_script());
  ASSERT_TRUE(slow.source.start());
  ASSERT_TRUE(fast.source.start());
  for (int second = 0; second < 130; ++second) {
    fast.go_to(second);
    ASSERT_TRUE(fast.sample());
  }
  ASSERT_TRUE(slow.sample());
  slow.go_to(129);
  ASSERT_TRUE(slow.sample());
  ASSERT_EQ(slow.batch.readings.size(), fast.batch.readings.size());
  for (std::size_t i = 0; i < slow.batch.readings.size(); ++i) {
    const Reading& a = slow.batch.readings[i];
    const Reading& b = fast.batch.readings[i];
    ASSERT_EQ(a.metric, b.metric);
    ASSERT_EQ(a.subject, b.subject);
    if (a.metric == MetricId::kGpuEnergyPolled) continue;  // what was polled, by its name
    ASSERT_TRUE(same(a.value, b.value)) << metric_info(a.metric).id;
  }
}

TEST(ScriptedSource, CountsTheEnergyOfItsPower) {
  Fleet fleet(script_of(demo_script()));
  for (int i = 0; i < static_cast<int>(fleet.script().gpus.size()); ++i) {
    double joules = 0;
    constexpr double kStep = 0.01;
    for (double time = 0; time < 1500; time += kStep) {
      joules += kStep * (fleet.watts(i, time) + fleet.watts(i, time + kStep)) / 2;
    }
    EXPECT_NEAR(fleet.joules(i, 1500), joules, joules * 1e-4) << i;
    EXPECT_GE(fleet.joules(i, 1500.5), fleet.joules(i, 1500)) << i;
  }
}

TEST(ScriptedSource, PlaysItsRoles) {
  Player player(demo_script());
  ASSERT_TRUE(player.source.start());
  player.go_to(60);
  ASSERT_TRUE(player.sample());
  const Batch& batch = player.batch;
  EXPECT_EQ(number(batch, MetricId::kGpuThrottlePowerCap, gpu(4)), 1);
  EXPECT_EQ(number(batch, MetricId::kGpuUtil, gpu(5)), 0);
  EXPECT_LT(number(batch, MetricId::kGpuPower, gpu(5)), 100);
  EXPECT_EQ(absence(batch, MetricId::kGpuUtil, gpu(6)), Absence::kNotSupported) << "MIG";
  EXPECT_EQ(number(batch, MetricId::kGpuMigInstances, gpu(6)), 3);
  EXPECT_EQ(text(batch, MetricId::kGpuParentUuid, gpu(7)), text(batch, MetricId::kGpuUuid, gpu(6)));
  std::set<std::string> users;
  for (const Reading& reading : batch.readings) {
    if (reading.metric != MetricId::kGpuProcessMemory) continue;
    const auto owner = player.source.fleet().owner(reading.subject.pid, false);
    ASSERT_TRUE(owner);
    users.insert(*owner->user.text());
    EXPECT_TRUE(owner->arguments.is_missing());
  }
  EXPECT_EQ(users, (std::set<std::string>{"demo-ada", "demo-bob", "demo-eve"}));
  EXPECT_EQ(player.source.fleet().owner(1, false), std::nullopt);
}

constexpr std::string_view kFaults = R"(
[[gpu]]
name = "Test GPU"
count = 2
load = "full"
mig = []
[[gpu.process]]
user = "a"
program = "b"
lives_s = 10
[[fault]]
kind = "lost"
gpu = 0
at_s = 10
for_s = 5
every_s = 100
[[fault]]
kind = "reload"
at_s = 30
for_s = 5
[[fault]]
kind = "mig"
gpu = 1
at_s = 40
for_s = 10
mig = ["1g.10gb", "1g.10gb"]
[[fault]]
kind = "missing"
at_s = 60
for_s = 10
share = 1.0
[[fault]]
kind = "processes"
gpu = 1
at_s = 80
for_s = 5
count = 10000
[[fault]]
kind = "xid"
gpu = 1
count = 79
at_s = 90
)";

TEST(ScriptedSource, LosesAGpuAndFindsItAgain) {
  Player player(kFaults);
  ASSERT_TRUE(player.source.start());
  ASSERT_TRUE(player.sample());
  for (const double begin : {10.0, 110.0}) {
    player.go_to(begin);
    ASSERT_TRUE(player.sample());
    EXPECT_EQ(count_events(player.batch, EventKind::kDeviceLost), 1);
    EXPECT_EQ(number(player.batch, MetricId::kGpuLost, gpu(0)), 1);
    EXPECT_EQ(find(player.batch, MetricId::kGpuUtil, gpu(0)), nullptr);
    EXPECT_NE(find(player.batch, MetricId::kGpuUtil, gpu(1)), nullptr);
    player.go_to(begin + 5);
    ASSERT_TRUE(player.sample());
    EXPECT_EQ(count_events(player.batch, EventKind::kDeviceBack), 1);
    EXPECT_NE(find(player.batch, MetricId::kGpuUtil, gpu(0)), nullptr);
  }
}

TEST(ScriptedSource, FailsWhileItsDriverIsReloaded) {
  Player player(kFaults);
  ASSERT_TRUE(player.source.start());
  player.go_to(31);
  EXPECT_FALSE(player.sample());
  EXPECT_FALSE(player.source.start());
  player.go_to(35);
  EXPECT_TRUE(player.source.start());
  EXPECT_TRUE(player.sample());
}

TEST(ScriptedSource, ChangesItsInstances) {
  Player player(kFaults);
  ASSERT_TRUE(player.source.start());
  ASSERT_TRUE(player.sample());
  EXPECT_EQ(number(player.batch, MetricId::kGpuMigEnabled, gpu(1)), 0);
  player.go_to(40);
  ASSERT_TRUE(player.sample());
  EXPECT_EQ(number(player.batch, MetricId::kGpuMigInstances, gpu(1)), 2);
  EXPECT_EQ(text(player.batch, MetricId::kGpuMigProfile, gpu(2)), "1g.10gb");
  EXPECT_NE(text(player.batch, MetricId::kGpuUuid, gpu(2)),
            text(player.batch, MetricId::kGpuUuid, gpu(3)));
  player.go_to(50);
  ASSERT_TRUE(player.sample());
  EXPECT_EQ(find(player.batch, MetricId::kGpuSmActive, gpu(2)), nullptr);
}

TEST(ScriptedSource, LeavesReadingsOutAndCrowdsProcesses) {
  Player player(kFaults);
  ASSERT_TRUE(player.source.start());
  player.go_to(65);
  ASSERT_TRUE(player.sample());
  EXPECT_EQ(absence(player.batch, MetricId::kGpuUtil, gpu(0)), Absence::kNotAvailable);
  player.go_to(81);
  ASSERT_TRUE(player.sample());
  EXPECT_EQ(number(player.batch, MetricId::kGpuProcesses, gpu(1)), 10001);
  EXPECT_EQ(number(player.batch, MetricId::kGpuProcesses, gpu(0)), 1);
  player.go_to(90);
  ASSERT_TRUE(player.sample());
  ASSERT_EQ(count_events(player.batch, EventKind::kXid), 1);
  EXPECT_EQ(number(player.batch, MetricId::kGpuXid, gpu(1)), 79);
  ASSERT_TRUE(player.sample());
  EXPECT_EQ(count_events(player.batch, EventKind::kXid), 0) << "told once";
}

TEST(ScriptedSource, ShowsWhatIsAskedFor) {
  Player player(demo_script(), {"4", "dead:50:00.0"});
  ASSERT_TRUE(player.source.start());
  ASSERT_TRUE(player.sample());
  EXPECT_EQ(count_events(player.batch, EventKind::kDeviceFound), 2);
  Player none(demo_script(), {"99"});
  EXPECT_FALSE(none.source.start());
}

// A day of a full machine in which everything goes wrong that a script can tell.
TEST(ScriptedSource, PlaysADay) {
  Player player(std::string(R"(
[[gpu]]
name = "Soak GPU"
count = 16
load = "training"
[[gpu.process]]
user = "u"
program = "p"
lives_s = 7
count = 4
[[fault]]
kind = "lost"
gpu = 3
at_s = 100
for_s = 30
every_s = 1000
[[fault]]
kind = "reload"
at_s = 500
for_s = 10
every_s = 3600
[[fault]]
kind = "mig"
gpu = 5
at_s = 50
for_s = 300
every_s = 900
mig = ["3g.40gb", "4g.40gb"]
[[fault]]
kind = "missing"
at_s = 70
for_s = 60
every_s = 700
[[fault]]
kind = "processes"
gpu = 0
at_s = 3000
for_s = 60
every_s = 20000
count = 10000
)"));
  constexpr int kDay = 86400;
  constexpr int kStep = 20;
  int failures = 0;
  int lost = 0;
  bool is_started = false;
  for (int second = 0; second < kDay; second += kStep) {
    player.go_to(second);
    is_started = is_started || player.source.start().has_value();
    if (is_started && player.sample()) {
      lost += count_events(player.batch, EventKind::kDeviceLost);
      for (const Reading& reading : player.batch.readings) {
        ASSERT_LT(reading.subject.device, 18);
        const double* value = reading.value.number();
        if (value == nullptr) continue;
        ASSERT_TRUE(std::isfinite(*value) && *value >= 0) << metric_info(reading.metric).id;
        if (metric_info(reading.metric).unit == "fraction") {
          ASSERT_LE(*value, 1);
        }
      }
    } else {
      ++failures;
      is_started = false;
    }
  }
  EXPECT_GE(failures, 24 / 2);
  EXPECT_GE(lost, 80);
}

TEST(Script, SaysWhereItIsWrong) {
  const auto wrong = [](std::string_view text) {
    const auto script = parse_script(text, "s.toml");
    return script ? std::string("(fine)") : script.error().to_string();
  };
  EXPECT_THAT(wrong(""), HasSubstr("there is no [[gpu]]"));
  EXPECT_THAT(wrong("host = "), HasSubstr("s.toml:1"));
  EXPECT_THAT(wrong("[[gpu]]\nname = \"a\"\npower = 3\n"),
              HasSubstr("s.toml:3: there is no key \"power\" here"));
  EXPECT_THAT(wrong("[[gpu]]\nname = \"a\"\ncount = 17\n"), HasSubstr("no number from 1 to 16"));
  EXPECT_THAT(wrong("[[gpu]]\nname = \"a\"\ncount = 9\n[[gpu]]\nname = \"b\"\ncount = 8\n"),
              HasSubstr("more than 16 GPUs"));
  EXPECT_THAT(wrong("[[gpu]]\nname = \"a\"\ncount = 1.5\n"), HasSubstr("not whole"));
  EXPECT_THAT(wrong("[[gpu]]\nname = \"a\"\nload = \"much\"\n"), HasSubstr("training"));
  EXPECT_THAT(wrong("[[gpu]]\nname = \"a\"\nmig = [1]\n"), HasSubstr("something else than text"));
  EXPECT_THAT(wrong("gpu = 3\n"), HasSubstr("[[gpu]]"));
  EXPECT_THAT(wrong("[[gpu]]\nname = \"a\"\n[[gpu.process]]\nuser = \"u\"\n"),
              HasSubstr("user and program"));
  EXPECT_THAT(wrong("[[gpu]]\nname = \"a\"\n[[fault]]\nkind = \"lost\"\nfor_s = 9\nevery_s = 9\n"),
              HasSubstr("longer than for_s"));
  EXPECT_THAT(wrong("[[gpu]]\nname = \"a\"\nmemory_gib = nan\n"), HasSubstr("no number"));
  EXPECT_THAT(wrong("[?[gpu]]\n"), HasSubstr("s.toml:1"));
  EXPECT_FALSE(read_script("/nowhere/script.toml"));
}

}  // namespace
}  // namespace pyrometer::sources::replay

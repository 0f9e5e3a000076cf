#include "readout/live.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace pyrometer::readout {
namespace {

using namespace std::chrono_literals;
using sources::Absence;
using sources::Batch;
using sources::Group;
using sources::Scope;

// One GPU; told from outside how to behave.
struct Script {
  std::atomic<bool> fails = false;
  std::atomic<bool> hangs = false;
  std::atomic<int> util = 1;
};

class ScriptedSource final : public sources::Source {
 public:
  explicit ScriptedSource(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] std::span<const Group> groups() const override { return kGroups; }
  [[nodiscard]] base::Result<void> start() override {
    return script_->fails ? base::Result<void>(base::fail({.message = "no driver"}))
                          : base::Result<void>();
  }
  [[nodiscard]] base::Result<void> sample(std::size_t group, Batch& batch) override {
    while (script_->hangs) std::this_thread::sleep_for(1ms);
    if (script_->fails) return base::fail({.message = "no driver"});
    const sources::Subject gpu{.scope = Scope::kDevice, .device = 0};
    if (group == 0) {
      batch.put(MetricId::kGpuUtil, gpu, 0, Value::number(script_->util));
      batch.put(MetricId::kGpuTemperature, gpu, 0, Value::missing(Absence::kNotSupported));
    }
    if (group == 1) {
      batch.put(MetricId::kGpuUuid, gpu, 0, Value::text("GPU-1"));
      batch.tell(sources::EventKind::kDeviceFound, gpu, 0, "GPU-1");
    }
    return {};
  }
  void stop() noexcept override {}

 private:
  static constexpr std::array<Group, 2> kGroups = {Group{"fast", 10ms},
                                                   Group{"once", sources::kOnce}};
  std::shared_ptr<Script> script_;
};

class LiveTest : public ::testing::Test {
 protected:
  LiveTest() {
    std::vector<std::unique_ptr<sources::Source>> sources;
    sources.push_back(std::make_unique<ScriptedSource>(script_));
    live_ = std::make_unique<Live>(
        std::move(sources),
        LiveOptions{.host = "here",
                    .poller = {.stale_after = 100ms, .first_retry = 10ms, .last_retry = 10ms}});
  }
  ~LiveTest() override { script_->hangs = false; }

  // The first view that `holds`; the last one where none does.
  template <typename Condition>
  LiveView wait_for(const Condition& holds) {
    LiveView view = live_->view();
    for (const auto until = std::chrono::steady_clock::now() + 20s;
         !holds(view) && std::chrono::steady_clock::now() < until; view = live_->view()) {
      std::this_thread::sleep_for(5ms);
    }
    EXPECT_TRUE(holds(view));
    return view;
  }
  LiveView wait_for_devices(std::size_t count) {
    return wait_for([count](const LiveView& view) {
      return view.number > 0 && view.snapshot->devices.size() == count;
    });
  }

  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  std::unique_ptr<Live> live_;
};

TEST_F(LiveTest, HasASnapshotBeforeTheFirstReading) {
  const LiveView view = live_->view();
  ASSERT_NE(view.snapshot, nullptr);
  EXPECT_EQ(view.number, 0U);
  EXPECT_EQ(view.snapshot->host, "here");
  EXPECT_TRUE(view.snapshot->devices.empty());
}

TEST_F(LiveTest, KeepsASnapshotFresh) {
  ASSERT_TRUE(live_->start());
  const LiveView first = wait_for_devices(1);
  EXPECT_EQ(text_of(first.snapshot->devices[0], MetricId::kGpuUuid), "GPU-1");
  EXPECT_EQ(first.snapshot->devices[0].source, "scripted");
  ASSERT_FALSE(first.events.empty());
  EXPECT_EQ(first.events[0].kind, sources::EventKind::kDeviceFound);
  EXPECT_EQ(first.events[0].device_uuid, "GPU-1");
  script_->util = 55;
  wait_for([](const LiveView& view) {
    return number_of(view.snapshot->devices.at(0), MetricId::kGpuUtil) == 55;
  });
  EXPECT_TRUE(live_->wait_newer(live_->view().number, 20s));
}

TEST_F(LiveTest, SaysWhyThereIsNothingAndComesBack) {
  ASSERT_TRUE(live_->start());
  wait_for_devices(1);
  script_->fails = true;
  const LiveView failed = wait_for_devices(0);
  ASSERT_TRUE(failed.snapshot->problem.has_value());
  EXPECT_EQ(failed.snapshot->problem->message, "no driver");
  EXPECT_EQ(wait_for([](const LiveView& view) {
              return view.sources.at(0).state == sources::SourceState::kFailed;
            })
                .sources.at(0)
                .reason,
            "no driver");
  script_->fails = false;
  EXPECT_FALSE(wait_for_devices(1).snapshot->problem.has_value());
}

TEST_F(LiveTest, ShowsTheLastReadingOfAHangAndSaysThatItIsOld) {
  ASSERT_TRUE(live_->start());
  wait_for_devices(1);
  script_->hangs = true;
  const LiveView view = wait_for([](const LiveView& seen) {
    return seen.sources.at(0).state == sources::SourceState::kStale;
  });
  EXPECT_EQ(view.snapshot->devices.size(), 1U);
  EXPECT_GT(view.sources.at(0).last_good_ns, 0);
  const auto hangs = [this] {
    return std::ranges::count(live_->view().events, sources::EventKind::kSourceStale,
                              &LiveEvent::kind);
  };
  EXPECT_EQ(hangs(), 0) << "who looks does not take it in";
  live_->look_after();
  EXPECT_EQ(hangs(), 1);
  EXPECT_FALSE(live_->stop(10ms)) << "the thread is left behind";
}

TEST_F(LiveTest, NumbersItsEvents) {
  ASSERT_TRUE(live_->start());
  wait_for_devices(1);
  for (int round = 0; round < 3; ++round) {
    script_->fails = true;
    wait_for_devices(0);
    script_->fails = false;
    wait_for_devices(1);
  }
  const LiveView view = live_->view();
  EXPECT_LE(view.events.size(), Live::kEventsKept);
  for (std::size_t i = 1; i < view.events.size(); ++i) {
    EXPECT_EQ(view.events[i].number, view.events[i - 1].number + 1);
  }
}

}  // namespace
}  // namespace pyrometer::readout

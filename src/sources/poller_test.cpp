#include "sources/poller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stdexcept>
#include <thread>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

namespace pyrometer::sources {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

// What a scripted source does and what has been done to it. Outlives the source.
struct Script {
  std::atomic<int> starts{0}, fast{0}, slow{0}, once{0}, stops{0};
  std::atomic<int> destroyed{0};
  std::atomic<bool> start_fails{false}, sample_fails{false}, throws{false}, hangs{false};
  std::mutex mutex;
  std::condition_variable changed;
  bool let_go = false;

  void hang() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return let_go; });
  }
  void release() {
    const std::lock_guard lock(mutex);
    let_go = true;
    changed.notify_all();
  }
};

class ScriptedSource final : public Source {
 public:
  explicit ScriptedSource(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  ~ScriptedSource() override { ++script_->destroyed; }
  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] std::span<const Group> groups() const override {
    static constexpr std::array kGroups = {Group{"fast", kFast}, Group{"slow", kSlow},
                                           Group{"once", kOnce}};
    return kGroups;
  }
  [[nodiscard]] base::Result<void> start() override {
    ++script_->starts;
    if (script_->start_fails) return base::fail({.message = "no start", .advice = "Try later"});
    return {};
  }
  [[nodiscard]] base::Result<void> sample(std::size_t group, Batch& batch) override {
    ++(group == 0 ? script_->fast : group == 1 ? script_->slow : script_->once);
    if (script_->hangs && group == 0) script_->hang();
    if (script_->throws) throw std::runtime_error("thrown");
    batch.put(MetricId::kHostLoad1, {}, monotonic_ns(), Value::number(1));
    if (script_->sample_fails) return base::fail({.message = "no sample"});
    return {};
  }
  void stop() noexcept override { ++script_->stops; }

 private:
  std::shared_ptr<Script> script_;
};

// What is allocated while it lives is no leak.
class MeantToLeak {
 public:
#ifdef __SANITIZE_ADDRESS__
  MeantToLeak() { __lsan_disable(); }
  ~MeantToLeak() { __lsan_enable(); }
#else
  MeantToLeak() = default;
  ~MeantToLeak() {}
#endif
  MeantToLeak(const MeantToLeak&) = delete;
  MeantToLeak& operator=(const MeantToLeak&) = delete;
};

class PollerTest : public ::testing::Test {
 protected:
  Poller& make(int count, PollerOptions options) {
    std::vector<std::unique_ptr<Source>> sources;
    for (int i = 0; i < count; ++i) {
      scripts.push_back(std::make_shared<Script>());
      sources.push_back(std::make_unique<ScriptedSource>(scripts.back()));
    }
    poller = std::make_unique<Poller>(
        std::move(sources),
        [this](Batch& batch) {
          const std::lock_guard lock(mutex);
          readings += static_cast<int>(batch.readings.size());
          for (const Event& event : batch.events) events.push_back(event);
        },
        options);
    return *poller;
  }
  int count(EventKind kind) {
    const std::lock_guard lock(mutex);
    int found = 0;
    for (const Event& event : events) found += event.kind == kind ? 1 : 0;
    return found;
  }
  template <typename Condition>
  static bool wait_for(const Condition& condition) {
    const auto end = steady_clock::now() + std::chrono::seconds(20);
    while (steady_clock::now() < end) {
      if (condition()) return true;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return false;
  }

  static constexpr PollerOptions kQuick{.period_scale = 0.01,
                                        .stale_after = milliseconds(50),
                                        .first_retry = milliseconds(5),
                                        .last_retry = milliseconds(20)};
  std::vector<std::shared_ptr<Script>> scripts;
  std::unique_ptr<Poller> poller;
  std::mutex mutex;
  std::vector<Event> events;
  int readings = 0;
};

TEST_F(PollerTest, SamplesByPeriodAndOnce) {
  Poller& p = make(1, kQuick);
  ASSERT_TRUE(p.start());
  ASSERT_TRUE(wait_for([&] { return scripts[0]->fast >= 20; }));
  EXPECT_TRUE(p.stop());
  EXPECT_EQ(scripts[0]->once, 1);
  EXPECT_EQ(scripts[0]->stops, 1);
  EXPECT_GE(scripts[0]->slow, 2);
  EXPECT_LT(scripts[0]->slow, scripts[0]->fast);
  EXPECT_GT(p.cpu_ns(), 0);
  EXPECT_GT(readings, 40);
}

TEST_F(PollerTest, StopIsPromptBetweenSamples) {
  Poller& p = make(3, {});
  ASSERT_TRUE(p.start());
  ASSERT_TRUE(wait_for([&] { return scripts[2]->slow >= 1; }));
  const auto begin = steady_clock::now();
  EXPECT_TRUE(p.stop(std::chrono::seconds(10)));
  EXPECT_LT(steady_clock::now() - begin, milliseconds(500)) << "the period is a second";
}

TEST_F(PollerTest, FailureIsToldOnceAndRetried) {
  Poller& p = make(1, kQuick);
  scripts[0]->start_fails = true;
  ASSERT_TRUE(p.start());
  ASSERT_TRUE(wait_for([&] { return scripts[0]->starts >= 5; }));
  EXPECT_EQ(count(EventKind::kSourceFailed), 1);
  const auto health = p.health();
  EXPECT_EQ(health[0].state, SourceState::kFailed);
  EXPECT_THAT(health[0].reason, HasSubstr("Try later"));
  scripts[0]->start_fails = false;
  ASSERT_TRUE(wait_for([&] { return count(EventKind::kSourceBack) == 1; }));
  EXPECT_TRUE(wait_for([&] { return p.health()[0].state == SourceState::kRunning; }));
  // Later failures count anew.
  scripts[0]->sample_fails = true;
  EXPECT_TRUE(wait_for([&] { return count(EventKind::kSourceFailed) == 2; }));
}

TEST_F(PollerTest, ExceptionIsAnError) {
  Poller& p = make(1, kQuick);
  scripts[0]->throws = true;
  ASSERT_TRUE(p.start());
  ASSERT_TRUE(wait_for([&] { return count(EventKind::kSourceFailed) == 1; }));
  EXPECT_THAT(p.health()[0].reason, HasSubstr("thrown"));
}

TEST_F(PollerTest, HangingCallHoldsUpNobodyElse) {
  const MeantToLeak leak;  // the source that hangs is given up
  Poller& p = make(2, kQuick);
  scripts[0]->hangs = true;
  ASSERT_TRUE(p.start());
  ASSERT_TRUE(wait_for([&] { return count(EventKind::kSourceStale) == 1; }))
      << "another lane notices";
  EXPECT_EQ(p.health()[0].state, SourceState::kStale);
  const int before = scripts[1]->fast;
  EXPECT_TRUE(wait_for([&] { return scripts[1]->fast > before + 5; }));
  EXPECT_FALSE(p.sample_all(milliseconds(30)));
  const auto begin = steady_clock::now();
  EXPECT_FALSE(p.stop());
  EXPECT_LT(steady_clock::now() - begin, milliseconds(500));
  poller.reset();
  EXPECT_EQ(scripts[0]->destroyed, 0) << "the call is still in it";
  int told = 0;
  {
    const std::lock_guard lock(mutex);
    told = readings;
  }
  scripts[0]->release();
  std::this_thread::sleep_for(milliseconds(50));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(readings, told) << "nothing is delivered after stop()";
  EXPECT_EQ(scripts[0]->stops, 0);
}

TEST_F(PollerTest, HangThatEndsIsTold) {
  Poller& p = make(1, kQuick);
  scripts[0]->hangs = true;
  ASSERT_TRUE(p.start());
  ASSERT_TRUE(wait_for([&] { return p.health()[0].state == SourceState::kStale; }));
  EXPECT_EQ(count(EventKind::kSourceStale), 0) << "asking for the state tells nothing";
  p.notice_stale();
  p.notice_stale();
  EXPECT_EQ(count(EventKind::kSourceStale), 1);
  scripts[0]->hangs = false;
  scripts[0]->release();
  EXPECT_TRUE(wait_for([&] { return count(EventKind::kSourceBack) == 1; }));
  EXPECT_TRUE(wait_for([&] { return p.health()[0].state == SourceState::kRunning; }));
  EXPECT_TRUE(p.stop(std::chrono::seconds(10)));
}

TEST_F(PollerTest, LastRoundOnRequest) {
  Poller& p = make(2, {});
  ASSERT_TRUE(p.start());
  ASSERT_TRUE(wait_for([&] { return scripts[0]->slow == 1 && scripts[1]->slow == 1; }));
  EXPECT_TRUE(p.sample_all(std::chrono::seconds(10)));
  EXPECT_EQ(scripts[0]->slow, 2);
  EXPECT_EQ(scripts[1]->fast, 2);
  scripts[1]->start_fails = scripts[1]->sample_fails = true;
  EXPECT_FALSE(p.sample_all(std::chrono::seconds(10)));
  EXPECT_FALSE(p.sample_all(std::chrono::seconds(10))) << "also while it waits to retry";
}

TEST_F(PollerTest, MayBeStoppedBeforeItStarts) {
  Poller& p = make(1, kQuick);
  EXPECT_TRUE(p.stop());
  EXPECT_FALSE(p.sample_all(milliseconds(1)));
}

}  // namespace
}  // namespace pyrometer::sources

#include "sources/procfs/process_usage.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "tests/sources/source_testing.h"

namespace pyrometer::sources {
namespace {

std::string stat_line(int pid, int parent, unsigned user_ticks, unsigned start) {
  return std::to_string(pid) + " (a) b) S " + std::to_string(parent) + " 1 1 0 -1 0 0 0 0 0 " +
         std::to_string(user_ticks) + " 0 0 0 20 0 4 0 " + std::to_string(start) + " 9999 25 0\n";
}

TEST(ProcessUsage, TellsOfAProcessAndThoseThatStartedIt) {
  const FakeRoot root;
  root.write("/proc/uptime", "1000.50 2000.00\n");
  root.write("/proc/42/stat", stat_line(42, 7, 100, 50'000));
  root.write("/proc/7/stat", stat_line(7, 1, 0, 100));
  root.write("/proc/1/stat", stat_line(1, 0, 0, 1));
  ProcessUsages usages(root.path());
  const auto first = usages.look(std::array{42, 99});
  ASSERT_EQ(first.size(), 3U);
  const ProcessUsage& usage = first.at(42);
  EXPECT_EQ(usage.parent, 7);
  EXPECT_EQ(usage.start_ticks, 50'000U);
  EXPECT_TRUE(usage.cpu.is_missing());
  EXPECT_EQ(*usage.resident.number(), 25.0 * static_cast<double>(::sysconf(_SC_PAGESIZE)));
  EXPECT_NEAR(*usage.running.number(),
              1000.5 - 50'000.0 / static_cast<double>(::sysconf(_SC_CLK_TCK)), 1e-9);

  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  root.write("/proc/42/stat", stat_line(42, 7, 101, 50'000));
  EXPECT_GT(*usages.look(std::array{42}).at(42).cpu.number(), 0);
  // Another process has the number now.
  root.write("/proc/42/stat", stat_line(42, 7, 500, 90'000));
  EXPECT_TRUE(usages.look(std::array{42}).at(42).cpu.is_missing());
}

TEST(ProcessUsage, BearsACircleOfParents) {
  const FakeRoot root;
  root.write("/proc/5/stat", stat_line(5, 6, 0, 1));
  root.write("/proc/6/stat", stat_line(6, 5, 0, 1));
  ProcessUsages usages(root.path());
  EXPECT_EQ(usages.look(std::array{5}).size(), 2U);
}

TEST(ProcessUsage, KnowsWhenAProcessBegan) {
  EXPECT_GT(start_ticks_of(::getpid()), 0U);
  EXPECT_EQ(start_ticks_of(-1), 0U);
}

}  // namespace
}  // namespace pyrometer::sources

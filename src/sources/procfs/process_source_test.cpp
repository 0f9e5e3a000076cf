#include "sources/procfs/process_source.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "tests/sources/source_testing.h"

namespace pyrometer::sources {
namespace {

const Subject kTree{.scope = Scope::kTree};
Subject process(int pid) { return {.scope = Scope::kProcess, .pid = pid}; }

struct Fake {
  int pid = 0, parent = 1, session = 1;
  int user = 0, system = 0, children = 0;
  int start = 100;
  std::string name = "python";
  char state = 'S';
};

class ProcessTreeTest : public ::testing::Test {
 protected:
  void put(const Fake& p) {
    const std::string folder = "/proc/" + std::to_string(p.pid);
    root.write(folder + "/stat", std::to_string(p.pid) + " (" + p.name + ") " + p.state + " " +
                                     std::to_string(p.parent) + " " + std::to_string(p.session) +
                                     " " + std::to_string(p.session) + " 0 -1 0 5 0 6 0 " +
                                     std::to_string(p.user) + " " + std::to_string(p.system) + " " +
                                     std::to_string(p.children) + " 0 20 0 3 0 " +
                                     std::to_string(p.start) +
                                     " 4096000 250 0 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 42 0 0\n");
    root.write(folder + "/schedstat", "1000 2000 3\n");
    root.write(folder + "/statm", "1000 250 100 0 0 0 0\n");
  }
  void end(int pid) { root.remove("/proc/" + std::to_string(pid)); }
  ProcessTree& tree(int reaper = -1) {
    if (!tree_) tree_.emplace(files, 10, reaper);
    EXPECT_TRUE(tree_->update());
    return *tree_;
  }
  static std::vector<int> pids(const ProcessTree& tree) {
    std::vector<int> all;
    for (const auto& [pid, member] : tree.members()) all.push_back(pid);
    return all;
  }

  FakeRoot root;
  ProcReader files{root.path()};
  std::optional<ProcessTree> tree_;
};

using Pids = std::vector<int>;

TEST_F(ProcessTreeTest, FindsChildrenSessionsAndOrphans) {
  put({.pid = 10, .parent = 5, .session = 10});
  put({.pid = 9, .parent = 11});  // before its parent in the list
  put({.pid = 11, .parent = 10, .session = 10});
  put({.pid = 20, .parent = 1, .session = 10});                // its parent has gone
  put({.pid = 21, .parent = 5, .session = 5});                 // a stranger
  put({.pid = 22, .parent = 5, .session = 22, .start = 150});  // taken over by the reaper
  put({.pid = 23, .parent = 5, .session = 23, .start = 50});   // older than the root
  EXPECT_EQ(pids(tree()), (Pids{9, 10, 11, 20}));
  tree_.reset();
  EXPECT_EQ(pids(tree(5)), (Pids{9, 10, 11, 20, 21, 22}));
}

TEST_F(ProcessTreeTest, ForeignSessionOfTheRootIsNotTheTrees) {
  put({.pid = 10, .parent = 5, .session = 4});
  put({.pid = 12, .parent = 5, .session = 4});
  EXPECT_EQ(pids(tree()), (Pids{10}));
}

TEST_F(ProcessTreeTest, MembershipIsForLife) {
  put({.pid = 10, .session = 3});
  put({.pid = 11, .parent = 10, .session = 3});
  put({.pid = 12, .parent = 11, .session = 3});
  EXPECT_EQ(pids(tree()), (Pids{10, 11, 12}));
  end(11);
  put({.pid = 12, .parent = 1, .session = 3});
  EXPECT_EQ(pids(tree()), (Pids{10, 12}));
  ASSERT_EQ(tree_->ended().size(), 1U);
  EXPECT_EQ(tree_->ended()[0].pid, 11);
}

TEST_F(ProcessTreeTest, SameIdOfAnotherProcess) {
  put({.pid = 10});
  put({.pid = 11, .parent = 10, .user = 7});
  tree();
  put({.pid = 11, .parent = 1, .user = 1000, .start = 999});  // was given anew to a stranger
  EXPECT_EQ(pids(tree()), (Pids{10}));
  EXPECT_EQ(tree_->cpu_ticks(), 7U);
}

TEST_F(ProcessTreeTest, TimeOfEndedProcessesCountsOnce) {
  put({.pid = 10, .user = 100});
  put({.pid = 11, .parent = 10, .user = 40, .system = 10});
  EXPECT_EQ(tree().cpu_ticks(), 150U);
  // Its parent has waited for it: the parent's counter has it.
  end(11);
  put({.pid = 10, .user = 110, .children = 50});
  EXPECT_EQ(tree().cpu_ticks(), 160U);
  // Nobody waited for this one.
  put({.pid = 12, .parent = 10, .user = 30});
  EXPECT_EQ(tree().cpu_ticks(), 190U);
  end(12);
  EXPECT_EQ(tree().cpu_ticks(), 190U);
  // A child that was never seen.
  put({.pid = 10, .user = 110, .children = 90});
  EXPECT_EQ(tree().cpu_ticks(), 230U);
  end(10);
  EXPECT_EQ(tree().cpu_ticks(), 230U);
  EXPECT_TRUE(tree_->members().empty());
}

TEST_F(ProcessTreeTest, RootThatIsNotThere) {
  ProcessTree none(files, 10, -1);
  const auto updated = none.update();
  ASSERT_FALSE(updated);
  EXPECT_EQ(updated.error().kind, base::ErrorKind::kNotFound);
}

TEST_F(ProcessTreeTest, ReadingsAndReasons) {
  put({.pid = 10, .user = 100, .system = 50, .name = "odd) name (x"});
  put({.pid = 11, .parent = 10, .state = 'Z'});
  root.write("/proc/10/io", "rchar: 5\nwchar: 6\nread_bytes: 700\nwrite_bytes: 800\n");
  root.write("/proc/10/status",
             "VmSwap: 3 kB\nCpus_allowed_list:\t0-3\nvoluntary_ctxt_switches:\t8\n"
             "nonvoluntary_ctxt_switches:\t9\n");
  root.write("/proc/10/task/10/schedstat", "1 500 1\n");
  root.write("/proc/10/task/33/schedstat", "1 70 1\n");
  root.write("/proc/sys/kernel/task_delayacct", "0\n");
  ProcessSource source(root.path(), 10, -1);
  ASSERT_TRUE(source.start());
  Batch batch;
  ASSERT_TRUE(source.sample(0, batch));
  ASSERT_TRUE(source.sample(1, batch));
  EXPECT_EQ(count_events(batch, EventKind::kProcessStarted), 2);
  EXPECT_EQ(text(batch, MetricId::kProcessName, process(10)), "odd) name (x");
  EXPECT_EQ(number(batch, MetricId::kProcessCpuUser, process(10)), 1e9);
  EXPECT_EQ(number(batch, MetricId::kProcessFaultsMajor, process(10)), 6);
  EXPECT_EQ(number(batch, MetricId::kProcessRunWait, process(10)), 2000);
  EXPECT_EQ(number(batch, MetricId::kProcessThreadsRunWait, process(10)), 570);
  EXPECT_EQ(absence(batch, MetricId::kProcessIoDelay, process(10)), Absence::kNotSupported);
  EXPECT_EQ(number(batch, MetricId::kProcessRead, process(10)), 700);
  EXPECT_EQ(number(batch, MetricId::kProcessSwapped, process(10)), 3072);
  EXPECT_EQ(number(batch, MetricId::kProcessCpusAllowed, process(10)), 4);
  EXPECT_EQ(number(batch, MetricId::kProcessSwitchesInvoluntary, process(10)), 9);
  EXPECT_EQ(number(batch, MetricId::kTreeProcesses, kTree), 1) << "a zombie is no process";
  EXPECT_EQ(number(batch, MetricId::kTreeCpu, kTree), 1.5e9);
  EXPECT_EQ(number(batch, MetricId::kTreeRead, kTree), 700);
  EXPECT_EQ(text(batch, MetricId::kProcessState, process(11)), "Z");
}

TEST(ParseProcStat, RefusesWhatIsNone) {
  EXPECT_FALSE(parse_proc_stat(""));
  EXPECT_FALSE(parse_proc_stat("12 (x"));
  EXPECT_FALSE(parse_proc_stat("12 (x) S 1 2 3"));
  EXPECT_FALSE(parse_proc_stat(")("));
  EXPECT_FALSE(parse_run_wait("0 0 0\n")) << "what a kernel without the count writes";
  EXPECT_EQ(parse_run_wait("5 0 1\n"), 0U);
}

// Real children: their CPU time is not lost when they end.
TEST(ProcessSourceHere, CpuTimeOfEndedChildren) {
  ProcessSource source("", getpid(), -1);
  ASSERT_TRUE(source.start());
  Batch before;
  ASSERT_TRUE(source.sample(0, before));
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    timespec used{};
    volatile unsigned long work = 0;
    do {
      for (int i = 0; i < 100000; ++i) work = work + 1;
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while (used.tv_nsec < 200'000'000 && used.tv_sec == 0);
    _exit(0);
  }
  Batch during;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_TRUE(source.sample(0, during));
  EXPECT_EQ(count_events(during, EventKind::kProcessStarted), 1);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  Batch after;
  ASSERT_TRUE(source.sample(0, after));
  EXPECT_EQ(count_events(after, EventKind::kProcessEnded), 1);
  const double grown =
      *number(after, MetricId::kTreeCpu, kTree) - *number(before, MetricId::kTreeCpu, kTree);
  EXPECT_GE(grown, 0.18e9);
  EXPECT_LE(grown, 2e9);
}

}  // namespace
}  // namespace pyrometer::sources

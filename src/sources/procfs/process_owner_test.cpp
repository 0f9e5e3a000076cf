#include "sources/procfs/process_owner.h"

#include <gtest/gtest.h>

#include "tests/sources/source_testing.h"

namespace pyrometer::sources {
namespace {

const std::string kId(64, 'a');

std::string text_of(const Value& value) {
  return value.text() != nullptr ? *value.text() : "(" + value.reason() + ")";
}

TEST(ProcessOwner, FindsContainersAndJobsInPaths) {
  EXPECT_EQ(container_in("0::/system.slice/docker-" + kId + ".scope"), kId);
  EXPECT_EQ(container_in("4:memory:/docker/" + kId), kId);
  EXPECT_EQ(container_in("0::/kubepods.slice/pod1/cri-containerd-" + kId + ".scope"), kId);
  EXPECT_EQ(container_in("0::/../libpod-" + kId + ".scope/container"), kId);
  EXPECT_EQ(container_in("0::/user.slice/user-1000.slice"), "");
  EXPECT_EQ(container_in("0::/docker/" + kId + "f"), "") << "65 digits are no id";
  EXPECT_EQ(slurm_job_in("9:memory:/slurm/uid_1000/job_42/step_0"), "42");
  EXPECT_EQ(slurm_job_in("0::/system.slice/slurmstepd.scope/job_7/step_batch/user"), "7");
  EXPECT_EQ(slurm_job_in("0::/batch/job_7"), "") << "some other scheduler's";
  EXPECT_EQ(slurm_job_in("0::/slurm/uid_1000"), "");
}

TEST(ProcessOwner, ReadsAProcess) {
  const FakeRoot root;
  root.write("/etc/passwd", "root:x:0:0::/:\nalice:x:1000:1000::/home/alice:/bin/sh\n");
  root.write("/proc/42/status", "Name:\tpt_main_thread\nUid:\t1000\t1000\t1000\t1000\n");
  root.write("/proc/42/cmdline", std::string("/opt/py/bin/python\0train.py\0--key=1\0", 36));
  root.write("/proc/42/cgroup", "0::/slurmstepd.scope/job_7/docker-" + kId + ".scope\n");
  ProcessOwners owners(root.path(), true);
  const ProcessOwner owner = owners.look_up(42, false);
  EXPECT_EQ(text_of(owner.user), "alice");
  EXPECT_EQ(text_of(owner.program), "python");
  EXPECT_EQ(text_of(owner.arguments), "(does not apply: not asked for)");
  EXPECT_EQ(text_of(owner.container), kId);
  EXPECT_EQ(text_of(owner.slurm_job), "7");
  EXPECT_EQ(text_of(owners.look_up(42, true).arguments), "/opt/py/bin/python train.py --key=1");
}

TEST(ProcessOwner, KeepsArgumentsOfTitlesToItself) {
  const FakeRoot root;
  root.write("/proc/42/cmdline", "python train.py --token secret");
  root.write("/proc/43/cmdline", "");
  root.write("/proc/43/comm", "kworker\n");
  root.write("/proc/43/status", "Uid:\t4000\t0\t0\t0\n");
  ProcessOwners owners(root.path(), true);
  EXPECT_EQ(text_of(owners.look_up(42, false).program), "python");
  EXPECT_EQ(text_of(owners.look_up(43, true).program), "kworker");
  EXPECT_EQ(text_of(owners.look_up(43, false).user), "4000");
}

TEST(ProcessOwner, SaysWhyNot) {
  const FakeRoot root;
  ProcessOwners owners(root.path(), true);
  EXPECT_EQ(text_of(owners.look_up(42, false).user),
            "(not available: /proc does not show the process)");
  ProcessOwners elsewhere(root.path(), false);
  EXPECT_EQ(text_of(elsewhere.look_up(42, false).user),
            "(belongs to another PID namespace: the id is that of the host)");
}

}  // namespace
}  // namespace pyrometer::sources

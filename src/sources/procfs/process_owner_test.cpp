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

TEST(ProcessOwner, FindsPodsInPaths) {
  const std::string uid = "3f2a7c01-94be-4d5e-8a6b-0123456789ab";
  const std::string flat = "3f2a7c01_94be_4d5e_8a6b_0123456789ab";
  const std::string hash(32, 'c');
  EXPECT_EQ(pod_uid_in("4:memory:/kubepods/burstable/pod" + uid + "/" + kId), uid);
  EXPECT_EQ(pod_uid_in("4:memory:/kubepods/pod" + uid + "/" + kId), uid);
  EXPECT_EQ(pod_uid_in("0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" +
                       flat + ".slice/cri-containerd-" + kId + ".scope"),
            uid);
  EXPECT_EQ(pod_uid_in("0::/kubepods.slice/kubepods-pod" + flat + ".slice/crio-" + kId + ".scope"),
            uid);
  EXPECT_EQ(pod_uid_in("0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" + flat +
                       ".slice/docker-" + kId + ".scope"),
            uid);
  EXPECT_EQ(pod_uid_in("0::/kubepods/burstable/pod" + hash + "/" + kId), hash) << "a static pod";
  EXPECT_EQ(pod_uid_in("0::/kubepods/burstable"), "");
  EXPECT_EQ(pod_uid_in("0::/machine.slice/libpod-" + kId + ".scope"), "") << "podman's";
  EXPECT_EQ(pod_uid_in("0::/pod" + uid), "");
}

TEST(ProcessOwner, NamesPods) {
  const FakeRoot root;
  root.write("/proc/42/cgroup",
             "0::/kubepods.slice/kubepods-pod3f2a7c01_94be_4d5e_8a6b_0123456789ab"
             ".slice/cri-containerd-" +
                 kId + ".scope\n");
  ProcessOwners before(root.path(), true);
  const ProcessOwner unnamed = before.look_up(42, false, "GPU-1");
  EXPECT_EQ(text_of(unnamed.pod_uid), "3f2a7c01-94be-4d5e-8a6b-0123456789ab");
  EXPECT_EQ(text_of(unnamed.pod), "(not available: the kubelet's socket is not here)");
  root.write("/var/log/containers/train-0_ml_main-" + kId + ".log", "");
  ProcessOwners owners(root.path(), true);
  const ProcessOwner owner = owners.look_up(42, false);
  EXPECT_EQ(text_of(owner.pod), "train-0");
  EXPECT_EQ(text_of(owner.pod_namespace), "ml");
  EXPECT_EQ(text_of(owner.pod_container), "main");
  root.write("/proc/43/cgroup", "0::/user.slice\n");
  EXPECT_EQ(text_of(owners.look_up(43, false).pod),
            "(does not apply: its control group names no pod)");
}

TEST(ProcessOwner, TellsThatAProcessIsRecorded) {
  const FakeRoot root;
  root.write("/proc/42/cgroup", "0::/\n");
  root.write("/dev/shm/pyrometer-1000-77-123/42-456.ring", "");
  root.write("/dev/shm/pyrometer-1000-77-123/43-456.noroom", "");
  root.write("/dev/shm/pyrometer-nonsense/44-1.ring", "");
  ProcessOwners owners(root.path(), true);
  EXPECT_EQ(text_of(owners.look_up(42, false).recording), "pyrometer 77");
  EXPECT_TRUE(owners.look_up(43, false).recording.is_missing());
  EXPECT_TRUE(owners.look_up(44, false).recording.is_missing());
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

#include "sources/gpu_presence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "sources/pci.h"
#include "tests/sources/source_testing.h"

namespace pyrometer::sources {
namespace {

using ::testing::HasSubstr;

class GpuPresenceTest : public ::testing::Test {
 protected:
  GpuPresenceTest() { inputs.root = root.path(); }

  // A machine on which all is well.
  void install() {
    root.add_pci("0000:3b:00.0", 0x10de, "nvidia");
    root.write("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 580.65.06\n");
    root.write("/dev/nvidiactl", "");
    root.write("/dev/nvidia0", "");
    root.write("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1", "");
    root.write("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "");
  }
  void expect(PresenceState state, const std::string& text, const std::string& advice) {
    const GpuPresence presence = diagnose_gpu_presence(inputs);
    EXPECT_EQ(presence.state, state) << presence.text;
    EXPECT_THAT(presence.text, HasSubstr(text));
    EXPECT_THAT(presence.advice, HasSubstr(advice));
  }

  FakeRoot root;
  PresenceInputs inputs;
};

TEST_F(GpuPresenceTest, Usable) {
  install();
  expect(PresenceState::kUsable, "", "");
}

TEST_F(GpuPresenceTest, NoDevice) { expect(PresenceState::kNoDevice, "no NVIDIA GPU", "attached"); }

TEST_F(GpuPresenceTest, AmdGpu) {
  root.add_pci("0000:03:00.0", 0x1002, "amdgpu");
  expect(PresenceState::kOtherVendor, "AMD GPU (0000:03:00.0, driver amdgpu)", "NVIDIA");
}

TEST_F(GpuPresenceTest, DriverNotLoaded) {
  root.add_pci("0000:3b:00.0", 0x10de, "");
  expect(PresenceState::kNoDriver, "0000:3b:00.0", "modprobe nvidia");
}

TEST_F(GpuPresenceTest, Nouveau) {
  root.add_pci("0000:3b:00.0", 0x10de, "nouveau");
  expect(PresenceState::kNouveau, "nouveau", "NVIDIA's driver");
}

TEST_F(GpuPresenceTest, PassedThrough) {
  root.add_pci("0000:3b:00.0", 0x10de, "vfio-pci");
  expect(PresenceState::kPassedThrough, "vfio-pci", "virtual machine");
}

TEST_F(GpuPresenceTest, ContainerWithoutGpus) {
  install();
  root.remove("/dev/nvidiactl");
  root.remove("/dev/nvidia0");
  expect(PresenceState::kNoDeviceFiles, "device files", "nvidia-modprobe");
  root.write("/.dockerenv", "");
  expect(PresenceState::kNoDeviceFiles, "device files", "--gpus all");
}

TEST_F(GpuPresenceTest, JobWithAnotherGpuThanTheFirst) {
  install();
  root.remove("/dev/nvidia0");
  root.write("/dev/nvidia5", "");
  expect(PresenceState::kUsable, "", "");
}

TEST_F(GpuPresenceTest, LibrariesMissing) {
  install();
  root.remove("/usr/lib/x86_64-linux-gnu/libcuda.so.1");
  expect(PresenceState::kNoCudaLibrary, "libcuda.so.1", "version");
  root.write("/run/.containerenv", "");
  root.remove("/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1");
  expect(PresenceState::kNoNvmlLibrary, "libnvidia-ml.so.1", "compute,utility");
  inputs.has_nvml = inputs.has_cuda = true;  // found by the loader in a folder of its own
  expect(PresenceState::kUsable, "", "");
}

TEST_F(GpuPresenceTest, VersionMismatch) {
  install();
  inputs.nvml_code = 18;
  expect(PresenceState::kVersionMismatch, "different versions", "reboot");
}

TEST_F(GpuPresenceTest, NoPermission) {
  install();
  inputs.try_open = [](const std::string&) { return EACCES; };
  expect(PresenceState::kNoPermission, "/dev/nvidiactl", "group");
  root.write("/proc/1/cgroup", "0::/kubepods/pod1\n");
  expect(PresenceState::kNoPermission, "/dev/nvidiactl", "container");
}

TEST_F(GpuPresenceTest, RefusedByNvml) {
  install();
  inputs.nvml_code = 0;
  inputs.gpus_shown = 2;
  inputs.gpus_denied = 2;
  expect(PresenceState::kNoPermission, "refused", "device rules");
}

TEST_F(GpuPresenceTest, HiddenByEnvironment) {
  install();
  for (const char* hidden : {"", "-1", "NoDevFiles", " -1 , 0"}) {
    inputs.cuda_visible_devices = hidden;
    expect(PresenceState::kHidden, "CUDA_VISIBLE_DEVICES", "Unset");
  }
  for (const char* shown : {"0", "0,-1", "GPU-123", "MIG-123"}) {
    inputs.cuda_visible_devices = shown;
    expect(PresenceState::kUsable, "", "");
  }
}

TEST_F(GpuPresenceTest, Wsl) {
  root.write("/proc/sys/kernel/osrelease", "5.15.90.1-microsoft-standard-WSL2\n");
  expect(PresenceState::kWslWithoutGpu, "WSL", "WSL 2");
  root.write("/dev/dxg", "");
  expect(PresenceState::kNoNvmlLibrary, "/usr/lib/wsl/lib", "in Windows");
  root.write("/usr/lib/wsl/lib/libnvidia-ml.so.1", "");
  expect(PresenceState::kUsable, "WSL", "");
}

TEST_F(GpuPresenceTest, MigWithoutInstances) {
  install();
  inputs.nvml_code = 0;
  inputs.gpus_shown = inputs.gpus_mig_without_instances = 1;
  expect(PresenceState::kMigWithoutInstances, "MIG", "mig -cgi");
}

TEST_F(GpuPresenceTest, Lost) {
  install();
  inputs.nvml_code = 0;
  inputs.gpus_shown = inputs.gpus_lost = 2;
  expect(PresenceState::kLost, "fallen off the bus", "Xid 79");
}

TEST_F(GpuPresenceTest, SomethingElse) {
  install();
  inputs.nvml_code = 999;
  expect(PresenceState::kUnknown, "does not work", "dmesg");
}

TEST_F(GpuPresenceTest, Tegra) {
  root.write("/sys/firmware/devicetree/base/compatible",
             "nvidia,p3737-0000+p3701-0000 nvidia,tegra234");
  root.write("/usr/lib/aarch64-linux-gnu/nvidia/libnvidia-ml.so.1", "");
  root.write("/usr/lib/aarch64-linux-gnu/nvidia/libcuda.so.1", "");
  expect(PresenceState::kUsable, "", "");
}

TEST(Pci, KernelAddress) {
  EXPECT_EQ(kernel_pci_address("00000000:3B:00.0"), "0000:3b:00.0");
  EXPECT_EQ(kernel_pci_address("0000:3b:00.0"), "0000:3b:00.0");
  EXPECT_EQ(kernel_pci_address("00010000:3B:00.0"), "10000:3b:00.0");
  EXPECT_EQ(kernel_pci_address("3B:00.0"), "3b:00.0");
  EXPECT_EQ(kernel_pci_address(""), "");
}

}  // namespace
}  // namespace pyrometer::sources

#include "sources/nvml/power_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "sources/nvml/visible_gpus.h"
#include "tests/stubs/nvml/world.h"

namespace pyrometer::sources::nvml {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

base::Result<Library> open_stub() { return Library{.api = load_api(nvml_stub::resolve)}; }

double limit(std::size_t gpu) {
  return nvml_stub::world().gpus.at(gpu).answers["power_limit"].value;
}

base::Result<PowerLimits> open_on(const std::string& script, std::vector<std::string> wanted = {}) {
  std::string problem;
  EXPECT_TRUE(nvml_stub::world().load(script, &problem)) << problem;
  return PowerLimits::open(open_stub, wanted);
}

TEST(PowerLimits, ComeBack) {
  {
    auto limits = open_on("gpus 2\ngpu1.power_limit 650000");
    ASSERT_TRUE(limits) << limits.error().to_string();
    ASSERT_EQ(limits->gpus().size(), 2U);
    EXPECT_EQ(limits->gpus()[1].found_mw, 650'000U);
    ASSERT_TRUE(limits->set(300));
    EXPECT_EQ(limit(0), 300'000);
    EXPECT_EQ(limit(1), 300'000);
    ASSERT_TRUE(limits->set(400.5));
    EXPECT_EQ(limit(1), 400'500);
    ASSERT_TRUE(limits->restore());
    EXPECT_EQ(limit(0), 700'000);
    EXPECT_EQ(limit(1), 650'000);
    ASSERT_TRUE(limits->set(250));
  }
  EXPECT_EQ(limit(0), 700'000);
  EXPECT_EQ(limit(1), 650'000);
  EXPECT_FALSE(nvml_stub::world().initialized);
}

TEST(PowerLimits, OnlyOfTheGpusThatAreWanted) {
  auto limits = open_on("gpus 3", {"1"});
  ASSERT_TRUE(limits);
  ASSERT_TRUE(limits->set(300));
  EXPECT_EQ(limit(0), 700'000);
  EXPECT_EQ(limit(1), 300'000);
  EXPECT_EQ(limit(2), 700'000);
}

TEST(PowerLimits, RefusesWithReason) {
  const auto message = [](const base::Result<PowerLimits>& limits) {
    EXPECT_FALSE(limits);
    return limits ? "" : limits.error().to_string();
  };
  EXPECT_THAT(message(open_on("gpus 1\ngpu0.set_power_limit error 4")),
              HasSubstr("no right to set the power limit of GPU 0. Run as root"));
  EXPECT_THAT(message(open_on("gpus 1\ngpu0.power_limit na")), HasSubstr("cannot be read"));
  EXPECT_THAT(message(open_on("gpus 1\ngpu0 mig 7 0 18432")), HasSubstr("MIG"));
  EXPECT_THAT(message(open_on("gpus 0")), HasSubstr("there is no GPU"));
  EXPECT_THAT(message(open_on("gpus 1", {"none"})), HasSubstr("there is no GPU"));
  EXPECT_THAT(message(open_on("gpus 1\nhide nvmlDeviceSetPowerManagementLimit")),
              HasSubstr("cannot be set"));
  auto limits = open_on("gpus 1");
  ASSERT_TRUE(limits);
  EXPECT_THAT(limits->set(900).error().message,
              HasSubstr("GPU 0 takes power limits from 200 to 700 W, not 900 W"));
  EXPECT_THAT(limits->check(100).error().message, HasSubstr("not 100 W"));
  EXPECT_TRUE(limits->check(200));
  EXPECT_EQ(limit(0), 700'000);
}

// Where it fails, it says what to do by hand.
TEST(PowerLimits, CannotBeRestored) {
  auto limits = open_on("gpus 1");
  ASSERT_TRUE(limits);
  ASSERT_TRUE(limits->set(300));
  ASSERT_TRUE(nvml_stub::world().run("gpu0.set_power_limit error 999"));
  EXPECT_THAT(limits->restore().error().advice, HasSubstr("nvidia-smi -i 0 -pl 700"));
}

TEST(PowerLimits, AreRestoredByAnotherProcess) {
  std::string text;
  {
    auto limits = open_on("gpus 2\ngpu1.power_limit 650000");
    ASSERT_TRUE(limits);
    text = text_of(limits->gpus());
  }
  ASSERT_TRUE(nvml_stub::world().run("gpu*.power_limit 300000"));
  restore_from("GPU-gone 1\nnonsense\n" + text, open_stub);
  EXPECT_EQ(limit(0), 700'000);
  EXPECT_EQ(limit(1), 650'000);
}

TEST(VisibleGpus, AreNamedForCuda) {
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_TRUE(visible_gpus().empty());
  ASSERT_TRUE(nvml_stub::world().load("gpus 3\ngpu1 lost"));
  EXPECT_THAT(*gpu_names(open_stub), ElementsAre("GPU-00001", "GPU-00003"));
  ASSERT_TRUE(nvml_stub::world().load("gpus 0"));
  EXPECT_FALSE(gpu_names(open_stub));
  ::setenv("CUDA_VISIBLE_DEVICES", "0, 2,GPU-ab", 1);
  EXPECT_THAT(visible_gpus(), ElementsAre("0", "2", "GPU-ab"));
  EXPECT_THAT(*gpu_names(open_stub), ElementsAre("0", "2", "GPU-ab"));
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  EXPECT_THAT(visible_gpus(), ElementsAre("none"));
  EXPECT_FALSE(gpu_names(open_stub));
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

}  // namespace
}  // namespace pyrometer::sources::nvml

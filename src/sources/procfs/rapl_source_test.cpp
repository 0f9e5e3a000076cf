#include "sources/procfs/rapl_source.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "tests/sources/source_testing.h"

namespace pyrometer::sources {
namespace {

const Subject kHost{.scope = Scope::kHost};

class RaplSourceTest : public ::testing::Test {
 protected:
  void zone(const std::string& id, const std::string& name, std::uint64_t microjoules) {
    const std::string folder = "/sys/class/powercap/" + id;
    root.write(folder + "/name", name + "\n");
    root.write(folder + "/max_energy_range_uj", "1000000000\n");
    root.write(folder + "/energy_uj", std::to_string(microjoules) + "\n");
  }
  static Batch sample(RaplSource& source) {
    Batch batch;
    EXPECT_TRUE(source.sample(0, batch));
    return batch;
  }

  FakeRoot root;
};

TEST_F(RaplSourceTest, AddsPackagesAndMemoryUpFromTheStart) {
  zone("intel-rapl:0", "package-0", 500'000'000);
  zone("intel-rapl:1", "package-1", 20);
  zone("intel-rapl:0:0", "core", 100);
  zone("intel-rapl:0:1", "dram", 7'000'000);
  zone("intel-rapl:2", "psys", 1);
  zone("intel-rapl-mmio:0", "package-0", 500'000'000);
  RaplSource source(root.path());
  ASSERT_TRUE(source.start());
  Batch batch = sample(source);
  EXPECT_EQ(number(batch, MetricId::kHostEnergyCpu, kHost), 0);
  zone("intel-rapl:0", "package-0", 503'000'000);
  zone("intel-rapl:1", "package-1", 1'000'020);
  zone("intel-rapl:0:1", "dram", 7'500'000);
  batch = sample(source);
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kHostEnergyCpu, kHost), 4);
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kHostEnergyMemory, kHost), 0.5);
}

TEST_F(RaplSourceTest, MetersWrap) {
  zone("intel-rapl:0", "package-0", 999'000'000);
  RaplSource source(root.path());
  ASSERT_TRUE(source.start());
  static_cast<void>(sample(source));
  zone("intel-rapl:0", "package-0", 2'000'000);
  const Batch batch = sample(source);
  EXPECT_DOUBLE_EQ(*number(batch, MetricId::kHostEnergyCpu, kHost), 3);
  EXPECT_EQ(absence(batch, MetricId::kHostEnergyMemory, kHost), Absence::kNotSupported);
}

TEST_F(RaplSourceTest, WithoutMetersThereIsAReasonAndNoZero) {
  RaplSource source(root.path());
  ASSERT_TRUE(source.start());
  const Batch batch = sample(source);
  EXPECT_EQ(absence(batch, MetricId::kHostEnergyCpu, kHost), Absence::kNotSupported);
}

TEST_F(RaplSourceTest, OnePackageThatCannotBeReadMakesTheSumMissing) {
  zone("intel-rapl:0", "package-0", 5);
  zone("intel-rapl:1", "package-1", 5);
  RaplSource source(root.path());
  ASSERT_TRUE(source.start());
  const std::string file = root.path() + "/sys/class/powercap/intel-rapl:1/energy_uj";
  std::filesystem::permissions(file, std::filesystem::perms::none);
  if (::access(file.c_str(), R_OK) == 0) std::filesystem::remove(file);  // root reads all the same
  const Batch batch = sample(source);
  EXPECT_FALSE(number(batch, MetricId::kHostEnergyCpu, kHost).has_value());
  EXPECT_TRUE(absence(batch, MetricId::kHostEnergyCpu, kHost).has_value());
}

}  // namespace
}  // namespace pyrometer::sources

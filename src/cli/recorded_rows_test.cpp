#include "cli/recorded_rows.h"

#include <gtest/gtest.h>

#include "recording/writer.h"
#include "tests/sources/source_testing.h"

namespace pyrometer::cli {
namespace {

using sources::Absence;
using sources::MetricId;

TEST(RecordedRows, PlayARecordingsDevices) {
  const sources::FakeRoot folder;
  const std::string path = folder.path() + "/run.pyro";
  {
    auto writer = recording::Writer::create(path);
    ASSERT_TRUE(writer) << writer.error().to_string();
    const auto util = (*writer)->add_metric("gpu.util", "fraction", "gpu 0");
    const auto name = (*writer)->add_metric("gpu.name", "text", "gpu 0");
    const auto power = (*writer)->add_metric("gpu.power", "W", "gpu 0");
    const auto memory = (*writer)->add_metric("gpu.process.memory", "bytes", "gpu 0 process 42");
    const auto load = (*writer)->add_metric("host.load1", "", "host");
    (*writer)->add_sample(load, 1, 7);
    (*writer)->add_missing(name, 1'000'000'000, "= NVIDIA H200");
    (*writer)->add_sample(util, 1'000'000'000, 0.25);
    (*writer)->add_sample(util, 2'000'000'000, 0.5);
    (*writer)->add_sample(util, 3'000'000'000, 0.75);
    (*writer)->add_sample(memory, 2'000'000'000, 4096);
    (*writer)->add_missing(power, 2'000'000'000, "not supported: no sensor");
    (*writer)->commit();
  }
  auto rows = open_recorded_rows(path);
  ASSERT_TRUE(rows) << rows.error().to_string();
  std::int64_t now = 77;
  sources::replay::RecordedSource source(std::move(*rows), {.clock = [&] { return now; }});
  ASSERT_TRUE(source.start());
  const sources::Subject gpu{.scope = sources::Scope::kDevice, .device = 0};
  const sources::Subject process{.scope = sources::Scope::kDeviceProcess, .device = 0, .pid = 42};
  sources::Batch batch;
  ASSERT_TRUE(source.sample(0, batch));
  EXPECT_EQ(number(batch, MetricId::kGpuUtil, gpu), 0.25);
  EXPECT_EQ(text(batch, MetricId::kGpuName, gpu), "NVIDIA H200");
  now += 1'500'000'000;
  batch = {};
  ASSERT_TRUE(source.sample(0, batch));
  EXPECT_EQ(number(batch, MetricId::kGpuUtil, gpu), 0.5);
  EXPECT_EQ(number(batch, MetricId::kGpuProcessMemory, process), 4096);
  EXPECT_EQ(absence(batch, MetricId::kGpuPower, gpu), Absence::kNotSupported);
  EXPECT_EQ(find(batch, MetricId::kGpuPower, gpu)->reason(), "not supported: no sensor");
  EXPECT_EQ(text(batch, MetricId::kGpuName, gpu), "NVIDIA H200") << "what it is, is told again";
  now += 1'000'000'000;
  ASSERT_TRUE(source.sample(0, batch));
  EXPECT_EQ(number(batch, MetricId::kGpuUtil, gpu), 0.75);
  const auto ended = source.sample(0, batch);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().message, "the recording has ended");
  EXPECT_FALSE(open_recorded_rows(folder.path() + "/none.pyro"));
}

}  // namespace
}  // namespace pyrometer::cli

#include "readout/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "output/display.h"

namespace pyrometer::readout {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Snapshot hostile() {
  Snapshot snapshot;
  snapshot.host = "box";
  Device& device = snapshot.devices.emplace_back();
  device.values.insert_or_assign(MetricId::kGpuIndex, Value::number(0));
  device.values.insert_or_assign(MetricId::kGpuName,
                                 Value::text("GPU \x1b[31m\n" + std::string(300, 'x')));
  device.values.insert_or_assign(MetricId::kGpuUtil, Value::number(0));
  Process& process = device.processes.emplace_back();
  process.pid = 4194303;
  process.owner.program = Value::text("\x1b]0;title\x07" + std::string(300, 'p'));
  process.owner.user = Value::text("Zoë");
  return snapshot;
}

TEST(SnapshotText, KeepsToTheWidthAndToItself) {
  for (int width = 40; width <= 160; width += 7) {
    const std::string text = snapshot_text(hostile(), {.width = width});
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos;
         begin = end + 1) {
      const std::string line = text.substr(begin, end - begin);
      EXPECT_LE(output::display_width(line), width) << line;
    }
  }
}

TEST(SnapshotText, ShowsZeroOnlyWhereItWasMeasured) {
  Snapshot snapshot = hostile();
  EXPECT_THAT(snapshot_text(snapshot, {}), HasSubstr("  0  "));
  snapshot.devices[0].values.erase(MetricId::kGpuUtil);
  snapshot.devices[0].values.erase(MetricId::kGpuIndex);
  snapshot.devices[0].values.erase(MetricId::kGpuName);
  snapshot.devices[0].processes.clear();
  const std::string text = snapshot_text(snapshot, {});
  EXPECT_EQ(text.find_first_of("0", text.find("GPU")), std::string::npos) << text;
}

TEST(SnapshotText, IsAsciiWhereItHasToBe) {
  const std::string text = snapshot_text(hostile(), {.unicode = false, .verbose = true});
  EXPECT_TRUE(std::ranges::all_of(text, [](char c) {
    return static_cast<unsigned char>(c) < 0x80;
  })) << text;
  EXPECT_THAT(text, HasSubstr("temp C"));
}

TEST(SnapshotText, SaysWhyThereIsNone) {
  Snapshot snapshot;
  snapshot.host = "box";
  snapshot.problem = base::Error{.message = "the driver is gone", .advice = "Load it"};
  EXPECT_THAT(snapshot_text(snapshot, {}),
              HasSubstr("\nNo GPU can be read: the driver is gone. Load it.\n"));
}

}  // namespace
}  // namespace pyrometer::readout

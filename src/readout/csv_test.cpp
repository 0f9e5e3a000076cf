#include "readout/csv.h"

#include <gtest/gtest.h>

#include <set>

namespace pyrometer::readout {
namespace {

Snapshot one_gpu() {
  Snapshot snapshot;
  snapshot.host = "box";
  snapshot.unix_ms = 1'764'554'786'123;
  Device& device = snapshot.devices.emplace_back();
  const auto put = [&](MetricId metric, Value value) {
    device.values.insert_or_assign(metric, std::move(value));
  };
  put(MetricId::kGpuIndex, Value::number(0));
  put(MetricId::kGpuName, Value::text("A \"B\", C\nD"));
  put(MetricId::kGpuPciId, Value::text("0000:3b:00.0"));
  put(MetricId::kGpuUtil, Value::number(0.07));
  put(MetricId::kGpuPower, Value::number(71.5));
  put(MetricId::kGpuPstate, Value::number(0));
  put(MetricId::kGpuThrottleMask, Value::number(0x41));
  put(MetricId::kGpuPersistence, Value::number(0));
  put(MetricId::kGpuFan, Value::missing(sources::Absence::kNotSupported));
  return snapshot;
}

std::vector<Field> fields(std::initializer_list<const char*> names) {
  std::vector<Field> found;
  for (const char* name : names) found.push_back(find_field(name).value());
  return found;
}

TEST(SmiFormat, IsReadAsNvidiaSmiReadsIt) {
  SmiStyle style;
  EXPECT_EQ(parse_smi_format("csv", style), "");
  EXPECT_TRUE(style.header && style.units);
  EXPECT_EQ(parse_smi_format("csv,noheader, nounits", style), "");
  EXPECT_FALSE(style.header || style.units);
  EXPECT_EQ(parse_smi_format("noheader", style), "lacks csv, as in csv,noheader,nounits");
  EXPECT_NE(parse_smi_format("csv,bold", style), "");
  EXPECT_NE(parse_smi_format("", style), "");
}

TEST(SmiRows, AreWrittenAsNvidiaSmiWritesThem) {
  const Snapshot snapshot = one_gpu();
  const auto asked = fields({"index", "pci.bus_id", "utilization.gpu", "power.draw", "pstate",
                             "clocks_event_reasons.active", "persistence_mode", "fan.speed"});
  EXPECT_EQ(smi_header(asked),
            "index, pci.bus_id, utilization.gpu [%], power.draw [W], pstate, "
            "clocks_event_reasons.active, persistence_mode, fan.speed [%]\n");
  EXPECT_EQ(smi_rows(asked, snapshot, {}),
            "0, 00000000:3B:00.0, 7 %, 71.50 W, P0, 0x0000000000000041, Disabled, [N/A]\n");
  EXPECT_EQ(smi_rows(asked, snapshot, {.units = false}),
            "0, 00000000:3B:00.0, 7, 71.50, P0, 0x0000000000000041, Disabled, [N/A]\n");
}

TEST(CsvRows, QuoteAndLeaveEmpty) {
  const auto asked = fields({"gpu.index", "gpu.name", "gpu.util", "gpu.fan"});
  EXPECT_EQ(csv_header(asked), "time,host,gpu.index,gpu.name,gpu.util,gpu.fan\n");
  EXPECT_EQ(csv_rows(asked, one_gpu()),
            "2025-12-01T02:06:26.123Z,box,0,\"A \"\"B\"\", C D\",0.07,\n");
}

TEST(Fields, HaveOneNameEach) {
  std::set<std::string_view> names;
  for (const Field& field : all_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    ASSERT_TRUE(find_field(field.name)) << field.name;
    EXPECT_EQ(find_field(field.name)->metric, field.metric) << field.name;
  }
  EXPECT_FALSE(find_field("gpu.process.memory")) << "not of a device";
  EXPECT_TRUE(find_field("clocks_throttle_reasons.active")) << "as R535 and older call it";
}

}  // namespace
}  // namespace pyrometer::readout

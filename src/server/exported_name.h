// Under which name, and times what, a metric of the catalog is exported.
#pragma once

#include <string_view>

#include "sources/reading.h"

namespace pyrometer::server {

struct ExportedName {
  std::string_view name;  // "pyrometer_gpu_power_watts"; empty: no series of its own
  std::string_view unit;  // "watts", a Prometheus base unit; empty for plain numbers
  double scale;           // a reading times this is what the series shows
};

[[nodiscard]] const ExportedName& exported_name(sources::MetricId metric);

}  // namespace pyrometer::server

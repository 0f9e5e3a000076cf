// NVML's GPU performance monitoring on a simulated machine.
#include <cmath>

#include "sources/nvml/nvml_abi.h"
#include "tests/stubs/nvml/call.h"
#include "tests/stubs/nvml/world.h"

using nvml_stub::Call;
using nvml_stub::get;
using nvml_stub::Handle;
using nvml_stub::Return;
namespace nvml = nvml_stub::nvml;

extern "C" {

Return nvmlGpmQueryDeviceSupport(Handle handle, nvml::GpmSupport* support) {
  return get("nvmlGpmQueryDeviceSupport", handle, "gpm", &support->supported);
}
Return nvmlGpmSampleAlloc(nvml::GpmSample* sample) {
  Call call("nvmlGpmSampleAlloc");
  ++call->open_handles;
  *sample = reinterpret_cast<nvml::GpmSample>(new double(NAN));
  return nvml::kSuccess;
}
Return nvmlGpmSampleFree(nvml::GpmSample sample) {
  Call call("nvmlGpmSampleFree");
  --call->open_handles;
  delete reinterpret_cast<double*>(sample);
  return nvml::kSuccess;
}
// A sample holds what the metrics between it and an earlier one shall be.
Return nvmlGpmSampleGet(Handle handle, nvml::GpmSample sample) {
  return get("nvmlGpmSampleGet", handle, "gpm_value", reinterpret_cast<double*>(sample));
}
Return nvmlGpmMigSampleGet(Handle handle, unsigned, nvml::GpmSample sample) {
  return get("nvmlGpmMigSampleGet", handle, "gpm_value", reinterpret_cast<double*>(sample));
}
Return nvmlGpmMetricsGet(nvml::GpmMetricsGet* request) {
  Call call("nvmlGpmMetricsGet");
  const double value = *reinterpret_cast<double*>(request->second);
  for (unsigned i = 0; i < request->count; ++i) {
    nvml::GpmMetric& metric = request->metrics[i];
    metric.value = value;
    metric.result = metric.id == 8      ? nvml::kNotSupported
                    : std::isnan(value) ? nvml::kNoData
                                        : nvml::kSuccess;
  }
  return nvml::kSuccess;
}

}  // extern "C"

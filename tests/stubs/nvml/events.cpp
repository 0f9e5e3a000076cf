// NVML's events on a simulated machine: its Xid errors.
#include <cstddef>

#include "sources/nvml/nvml_abi.h"
#include "tests/stubs/nvml/call.h"
#include "tests/stubs/nvml/world.h"

using nvml_stub::AnswerKind;
using nvml_stub::Call;
using nvml_stub::Gpu;
using nvml_stub::Handle;
using nvml_stub::handle_of;
using nvml_stub::Return;
namespace nvml = nvml_stub::nvml;

extern "C" {

Return nvmlEventSetCreate(nvml::EventSet* set) {
  Call call("nvmlEventSetCreate");
  ++call->open_handles;
  *set = reinterpret_cast<nvml::EventSet>(1);
  return nvml::kSuccess;
}
Return nvmlEventSetFree(nvml::EventSet) {
  Call call("nvmlEventSetFree");
  --call->open_handles;
  return nvml::kSuccess;
}
Return nvmlDeviceRegisterEvents(Handle handle, unsigned long long, nvml::EventSet) {
  Call call("nvmlDeviceRegisterEvents");
  Gpu* gpu = nullptr;
  if (const Return code = call.find(handle, gpu); code != nvml::kSuccess) return code;
  if (gpu->answers["events"].kind == AnswerKind::kError) return gpu->answers["events"].code;
  gpu->registered = true;
  return nvml::kSuccess;
}
Return nvmlEventSetWait_v2(nvml::EventSet, nvml::EventData* data, unsigned) {
  Call call("nvmlEventSetWait_v2");
  if (!call->initialized) return nvml::kUninitialized;
  for (std::size_t i = 0; i < call->gpus.size(); ++i) {
    Gpu& gpu = call->gpus[i];
    if (!gpu.registered || gpu.xids.empty()) continue;
    *data = {handle_of(i + 1), nvml::kEventXid, gpu.xids.front(), 0xFFFFFFFF, 0xFFFFFFFF};
    gpu.xids.erase(gpu.xids.begin());
    return nvml::kSuccess;
  }
  return nvml::kTimeout;
}

}  // extern "C"

// NVML's functions on a simulated machine: exported by the stub library, and called directly by
// unit tests.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "sources/nvml/nvml_abi.h"
#include "tests/stubs/nvml/call.h"
#include "tests/stubs/nvml/world.h"

using nvml_stub::Answer;
using nvml_stub::AnswerKind;
using nvml_stub::Call;
using nvml_stub::get;
using nvml_stub::Gpu;
using nvml_stub::Handle;
using nvml_stub::handle_of;
using nvml_stub::Mig;
using nvml_stub::number_of;
using nvml_stub::Return;
using nvml_stub::write;
namespace nvml = nvml_stub::nvml;

namespace {

Return put_text(const std::string& text, char* out, unsigned size) {
  if (text.size() + 1 > size) return nvml::kInsufficientSize;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return nvml::kSuccess;
}

Return list(const char* symbol, Handle handle, bool computes, std::size_t entry, unsigned* count,
            void* out) {
  Call call(symbol);
  Gpu* gpu = nullptr;
  Mig* mig = nullptr;
  if (const Return code = call.find(handle, gpu, &mig); code != nvml::kSuccess) return code;
  if (entry == 0) entry = call->process_entry;
  unsigned written = 0;
  auto* bytes = static_cast<unsigned char*>(out);
  for (const auto& process : gpu->processes) {
    if (process.computes != computes) continue;
    if (written < *count) {
      nvml::ProcessDetail detail{
          .pid = process.pid,
          .used_memory =
              process.mib ? static_cast<std::uint64_t>(*process.mib * 1048576) : nvml::kNoValue64,
          .gpu_instance = 0xFFFFFFFF,
          .compute_instance = 0xFFFFFFFF,
          .used_protected_memory = 0};
      std::memcpy(bytes + written * entry, &detail, entry);
    }
    ++written;
  }
  const bool fits = written <= *count;
  *count = written;
  return fits ? nvml::kSuccess : nvml::kInsufficientSize;
}

std::string field_key(unsigned field) {
  switch (field) {
    case nvml::kFieldMemoryTemperature:
      return "temperature_memory";
    case nvml::kFieldNvlinkTx:
      return "nvlink_tx";
    case nvml::kFieldNvlinkRx:
      return "nvlink_rx";
    case nvml::kFieldPowerAverage:
      return "power_average";
    case nvml::kFieldPowerInstant:
      return "power_instant";
    case nvml::kFieldPcieTx:
      return "pcie_tx_bytes";
    case nvml::kFieldPcieRx:
      return "pcie_rx_bytes";
    default:
      return {};
  }
}

}  // namespace

extern "C" {

Return nvmlInit_v2() {
  Call call("nvmlInit_v2");
  if (call->started < 0) call->started = call->clock();
  if (call->init_code != 0) return call->init_code;
  call->initialized = true;
  return nvml::kSuccess;
}

Return nvmlShutdown() {
  Call call("nvmlShutdown");
  call->initialized = false;
  return nvml::kSuccess;
}

Return nvmlSystemGetDriverVersion(char* text, unsigned size) {
  return put_text("580.65.06", text, size);
}
Return nvmlSystemGetNVMLVersion(char* text, unsigned size) {
  return put_text("13.580.65.06", text, size);
}
Return nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 13000;
  return nvml::kSuccess;
}

Return nvmlDeviceGetCount_v2(unsigned* count) {
  Call call("nvmlDeviceGetCount_v2");
  if (!call->initialized) return nvml::kUninitialized;
  if (call->count_code != 0) return call->count_code;
  *count = static_cast<unsigned>(call->gpus.size());
  return nvml::kSuccess;
}

Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Handle* out) {
  Call call("nvmlDeviceGetHandleByIndex_v2");
  Gpu* gpu = nullptr;
  const Return code = call.find(handle_of(index + 1), gpu);
  if (code != nvml::kSuccess) return code;
  const Answer& open = gpu->answers["open"];
  if (open.kind == AnswerKind::kError) return open.code;
  *out = handle_of(index + 1);
  return nvml::kSuccess;
}

Return nvmlDeviceGetHandleByPciBusId_v2(const char* address, Handle* out) {
  unsigned bus = 0;
  if (std::sscanf(address, "%*x:%x:", &bus) != 1 || bus == 0) return nvml::kNotFound;
  return nvmlDeviceGetHandleByIndex_v2(bus - 1, out);
}

Return nvmlDeviceGetName(Handle handle, char* text, unsigned size) {
  Call call("nvmlDeviceGetName");
  Gpu* gpu = nullptr;
  Mig* mig = nullptr;
  const Return code = call.find(handle, gpu, &mig);
  if (code != nvml::kSuccess) return code;
  return put_text(mig != nullptr ? "NVIDIA H200 MIG 1g.18gb" : "NVIDIA H200", text, size);
}

Return nvmlDeviceGetUUID(Handle handle, char* text, unsigned size) {
  Call call("nvmlDeviceGetUUID");
  Gpu* gpu = nullptr;
  Mig* mig = nullptr;
  const Return code = call.find(handle, gpu, &mig);
  if (code != nvml::kSuccess) return code;
  if (const auto cuda = gpu->answers.find("cuda_uuid"); cuda != gpu->answers.end()) {
    // As tests/stubs/gpu/libcuda.cpp has it for the device of this ordinal.
    std::string uuid = "GPU-";
    for (int i = 0; i < 16; ++i) {
      char byte[4];
      std::snprintf(byte, sizeof byte, "%02x", i * 16 + static_cast<int>(cuda->second.value));
      uuid += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(byte);
    }
    return put_text(uuid, text, size);
  }
  const std::string number = std::to_string(number_of(handle));
  return put_text((mig != nullptr ? "MIG-0000" : "GPU-0000") + number, text, size);
}

Return nvmlDeviceGetIndex(Handle handle, unsigned* index) {
  *index = static_cast<unsigned>(number_of(handle)) - 1;
  return nvml::kSuccess;
}

Return nvmlDeviceGetPciInfo_v3(Handle handle, nvml::PciInfo* info) {
  Call call("nvmlDeviceGetPciInfo_v3");
  Gpu* gpu = nullptr;
  const Return code = call.find(handle, gpu);
  if (code != nvml::kSuccess) return code;
  info->bus = static_cast<unsigned>(number_of(handle));
  std::snprintf(info->bus_id, sizeof info->bus_id, "00000000:%02X:00.0", info->bus & 0xFF);
  return nvml::kSuccess;
}

Return nvmlDeviceGetCudaComputeCapability(Handle, int* major, int* minor) {
  *major = 9;
  *minor = 0;
  return nvml::kSuccess;
}

#define STUB_NUMBER(symbol, key, type) \
  Return symbol(Handle handle, type* out) { return get(#symbol, handle, key, out); }
STUB_NUMBER(nvmlDeviceGetNumGpuCores, "cores", unsigned)
STUB_NUMBER(nvmlDeviceGetNumaNodeId, "numa_node", unsigned)
STUB_NUMBER(nvmlDeviceGetPersistenceMode, "persistence", unsigned)
STUB_NUMBER(nvmlDeviceGetComputeMode, "compute_mode", unsigned)
STUB_NUMBER(nvmlDeviceGetPowerUsage, "power", unsigned)
STUB_NUMBER(nvmlDeviceGetEnforcedPowerLimit, "power_limit", unsigned)
STUB_NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, "power_limit_default", unsigned)
STUB_NUMBER(nvmlDeviceGetTotalEnergyConsumption, "energy", unsigned long long)
STUB_NUMBER(nvmlDeviceGetFanSpeed, "fan", unsigned)
STUB_NUMBER(nvmlDeviceGetPerformanceState, "pstate", unsigned)
STUB_NUMBER(nvmlDeviceGetCurrentClocksEventReasons, "throttle", unsigned long long)
STUB_NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_generation", unsigned)
STUB_NUMBER(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_generation_max", unsigned)
STUB_NUMBER(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width", unsigned)
STUB_NUMBER(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max", unsigned)
STUB_NUMBER(nvmlDeviceGetPcieReplayCounter, "pcie_replays", unsigned)
#undef STUB_NUMBER

Return nvmlDeviceGetUtilizationRates(Handle handle, nvml::Utilization* out) {
  Return code = get("nvmlDeviceGetUtilizationRates", handle, "util", &out->gpu);
  if (code == nvml::kSuccess) {
    code = get("nvmlDeviceGetUtilizationRates", handle, "util_memory", &out->memory);
  }
  return code;
}
Return nvmlDeviceGetEncoderUtilization(Handle handle, unsigned* share, unsigned* period) {
  *period = 166000;
  return get("nvmlDeviceGetEncoderUtilization", handle, "util_encoder", share);
}
Return nvmlDeviceGetDecoderUtilization(Handle handle, unsigned* share, unsigned* period) {
  *period = 166000;
  return get("nvmlDeviceGetDecoderUtilization", handle, "util_decoder", share);
}

Return nvmlDeviceGetMemoryInfo_v2(Handle handle, nvml::MemoryV2* out) {
  Call call("nvmlDeviceGetMemoryInfo_v2");
  if (out->version != (sizeof(nvml::MemoryV2) | 2U << 24)) return nvml::kArgumentVersionMismatch;
  Gpu* gpu = nullptr;
  Mig* mig = nullptr;
  Return code = call.find(handle, gpu, &mig);
  if (code != nvml::kSuccess) return code;
  if (mig != nullptr) {
    out->total = static_cast<std::uint64_t>(mig->mib * 1048576);
    out->reserved = 1048576;
    out->used = 2097152;
    out->free = out->total - out->reserved - out->used;
    return nvml::kSuccess;
  }
  for (const auto& [key, field] :
       {std::pair("total", &out->total), std::pair("reserved", &out->reserved),
        std::pair("used", &out->used)}) {
    code = write(gpu->answers[key], field);
    if (code != nvml::kSuccess) return code;
  }
  if (gpu->answers["total"].kind == AnswerKind::kValue) {
    out->free = out->total - out->reserved - out->used;
  }
  return nvml::kSuccess;
}
Return nvmlDeviceGetMemoryInfo(Handle handle, nvml::Memory* out) {
  nvml::MemoryV2 v2{.version = sizeof(nvml::MemoryV2) | 2U << 24};
  const Return code = nvmlDeviceGetMemoryInfo_v2(handle, &v2);
  if (code == nvml::kSuccess) *out = {v2.total, v2.free, v2.used + v2.reserved};
  return code;
}

Return nvmlDeviceGetClockInfo(Handle handle, unsigned which, unsigned* out) {
  static const char* const kKeys[] = {"clock_graphics", "clock_sm", "clock_memory", "clock_video"};
  return get("nvmlDeviceGetClockInfo", handle, kKeys[which & 3], out);
}
Return nvmlDeviceGetMaxClockInfo(Handle handle, unsigned which, unsigned* out) {
  return get("nvmlDeviceGetMaxClockInfo", handle, which == 2 ? "clock_memory_max" : "clock_sm_max",
             out);
}
Return nvmlDeviceGetPowerManagementLimitConstraints(Handle handle, unsigned* least, unsigned* out) {
  *least = 200000;
  return get("nvmlDeviceGetPowerManagementLimitConstraints", handle, "power_limit_max", out);
}
Return nvmlDeviceGetPowerManagementLimit(Handle handle, unsigned* out) {
  return get("nvmlDeviceGetPowerManagementLimit", handle, "power_limit", out);
}
Return nvmlDeviceSetPowerManagementLimit(Handle handle, unsigned milliwatts) {
  Call call("nvmlDeviceSetPowerManagementLimit");
  Gpu* gpu = nullptr;
  if (const Return code = call.find(handle, gpu); code != nvml::kSuccess) return code;
  const Answer& right = gpu->answers["set_power_limit"];
  if (right.kind == AnswerKind::kError) return right.code;
  const std::string statement = "gpu" + std::to_string(number_of(handle) - 1) + ".power_limit " +
                                std::to_string(milliwatts) + "\n";
  static_cast<void>(call->run(statement));
  // A real GPU keeps it beyond the process that set it: so does the script.
  if (const char* path = std::getenv("PYROMETER_STUB_NVML")) {
    if (std::FILE* file = std::fopen(path, "a")) {
      std::fputs(statement.c_str(), file);
      std::fclose(file);
    }
  }
  return nvml::kSuccess;
}
Return nvmlDeviceGetTemperature(Handle handle, unsigned, unsigned* out) {
  return get("nvmlDeviceGetTemperature", handle, "temperature", out);
}
Return nvmlDeviceGetTemperatureThreshold(Handle handle, unsigned, unsigned* out) {
  return get("nvmlDeviceGetTemperatureThreshold", handle, "temperature_slowdown", out);
}
Return nvmlDeviceGetViolationStatus(Handle handle, unsigned policy, nvml::ViolationTime* out) {
  return get("nvmlDeviceGetViolationStatus", handle,
             policy == nvml::kPolicyPower ? "violation_power" : "violation_thermal",
             &out->violation_ns);
}
Return nvmlDeviceGetPcieThroughput(Handle handle, unsigned counter, unsigned* out) {
  return get("nvmlDeviceGetPcieThroughput", handle, counter == 0 ? "pcie_tx" : "pcie_rx", out);
}
Return nvmlDeviceGetNvLinkState(Handle handle, unsigned link, unsigned* state) {
  double links = -1;
  const Return code = get("nvmlDeviceGetNvLinkState", handle, "nvlinks", &links);
  if (code != nvml::kSuccess) return code;
  if (link >= links) return nvml::kInvalidArgument;
  *state = 1;
  return nvml::kSuccess;
}

Return nvmlDeviceGetFieldValues(Handle handle, int count, nvml::FieldValue* values) {
  Call call("nvmlDeviceGetFieldValues");
  Gpu* gpu = nullptr;
  if (const Return code = call.find(handle, gpu); code != nvml::kSuccess) return code;
  for (int i = 0; i < count; ++i) {
    const Answer& answer = gpu->answers[field_key(values[i].field)];
    if (answer.kind == AnswerKind::kUntouched) continue;
    if (answer.kind == AnswerKind::kGarbage) {
      std::memset(&values[i].type, 0x5C, sizeof values[i].type);
      values[i].result = nvml::kSuccess;
      values[i].value.u64 = 0xDEADBEEFCAFEF00D;
      continue;
    }
    values[i].result = answer.kind == AnswerKind::kError ? answer.code : nvml::kSuccess;
    if (answer.kind == AnswerKind::kError) continue;
    values[i].type = nvml::kUlongLong;
    values[i].value.u64 = static_cast<std::uint64_t>(answer.value);
  }
  return nvml::kSuccess;
}

Return nvmlDeviceGetEccMode(Handle handle, unsigned* current, unsigned* pending) {
  *pending = 1;
  return get("nvmlDeviceGetEccMode", handle, "ecc_mode", current);
}
Return nvmlDeviceGetTotalEccErrors(Handle handle, unsigned error, unsigned kind,
                                   unsigned long long* out) {
  return get("nvmlDeviceGetTotalEccErrors", handle,
             "ecc_" + std::to_string(error) + "_" + std::to_string(kind), out);
}
Return nvmlDeviceGetRemappedRows(Handle handle, unsigned* corrected, unsigned* uncorrected,
                                 unsigned* pending, unsigned* failed) {
  const char* symbol = "nvmlDeviceGetRemappedRows";
  Return code = get(symbol, handle, "remapped_corrected", corrected);
  if (code == nvml::kSuccess) code = get(symbol, handle, "remapped_uncorrected", uncorrected);
  if (code == nvml::kSuccess) code = get(symbol, handle, "remap_pending", pending);
  if (code == nvml::kSuccess) code = get(symbol, handle, "remap_failed", failed);
  return code;
}

Return nvmlDeviceGetGridLicensableFeatures_v4(Handle handle, nvml::LicensableFeatures* out) {
  unsigned licensed = 0xFFFFFFFF;
  const Return code =
      get("nvmlDeviceGetGridLicensableFeatures_v4", handle, "vgpu_licensed", &licensed);
  if (code != nvml::kSuccess || licensed == 0xFFFFFFFF) return code;  // the driver wrote nothing
  out->is_supported = static_cast<std::int32_t>(licensed);
  out->count = licensed > 0 ? 2 : 0;
  for (unsigned i = 0; i < out->count; ++i) out->features[i].is_licensed = i;
  return code;
}

#define STUB_LIST(symbol, computes, entry)                     \
  Return symbol(Handle handle, unsigned* count, void* out) {   \
    return list(#symbol, handle, computes, entry, count, out); \
  }
STUB_LIST(nvmlDeviceGetComputeRunningProcesses_v3, true, 0)
STUB_LIST(nvmlDeviceGetGraphicsRunningProcesses_v3, false, 0)
STUB_LIST(nvmlDeviceGetComputeRunningProcesses_v2, true, 24)
STUB_LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, false, 24)
STUB_LIST(nvmlDeviceGetComputeRunningProcesses, true, 16)
STUB_LIST(nvmlDeviceGetGraphicsRunningProcesses, false, 16)
#undef STUB_LIST

Return nvmlDeviceGetProcessUtilization(Handle handle, nvml::ProcessUtilization* out,
                                       unsigned* count, unsigned long long since) {
  Call call("nvmlDeviceGetProcessUtilization");
  Gpu* gpu = nullptr;
  if (const Return code = call.find(handle, gpu); code != nvml::kSuccess) return code;
  std::vector<nvml::ProcessUtilization> samples;
  for (const auto& process : gpu->processes) {
    if (!process.util) continue;
    samples.push_back({process.pid, since + 1000000, *process.util, 1, 0, 0});
    samples.push_back({0xFFFFFFF0, since + 1000001, 4000000000, 1, 0, 0});  // as some drivers do
  }
  if (samples.empty()) return nvml::kNotFound;
  const bool fits = out != nullptr && *count >= samples.size();
  *count = static_cast<unsigned>(samples.size());
  if (!fits) return nvml::kInsufficientSize;
  std::memcpy(out, samples.data(), samples.size() * sizeof samples[0]);
  return nvml::kSuccess;
}

Return nvmlDeviceGetMigMode(Handle handle, unsigned* current, unsigned* pending) {
  *pending = 0;
  return get("nvmlDeviceGetMigMode", handle, "mig_mode", current);
}
Return nvmlDeviceGetMaxMigDeviceCount(Handle, unsigned* count) {
  *count = 7;
  return nvml::kSuccess;
}
Return nvmlDeviceGetMigDeviceHandleByIndex(Handle handle, unsigned index, Handle* out) {
  Call call("nvmlDeviceGetMigDeviceHandleByIndex");
  Gpu* gpu = nullptr;
  if (const Return code = call.find(handle, gpu); code != nvml::kSuccess) return code;
  if (index >= gpu->instances.size()) return nvml::kNotFound;
  *out = handle_of(1000 * number_of(handle) + index + 1);
  return nvml::kSuccess;
}
Return nvmlDeviceGetGpuInstanceId(Handle handle, unsigned* id) {
  Call call("nvmlDeviceGetGpuInstanceId");
  Gpu* gpu = nullptr;
  Mig* mig = nullptr;
  const Return code = call.find(handle, gpu, &mig);
  if (code != nvml::kSuccess || mig == nullptr) return nvml::kNotSupported;
  *id = mig->gpu_instance;
  return nvml::kSuccess;
}
Return nvmlDeviceGetComputeInstanceId(Handle handle, unsigned* id) {
  Call call("nvmlDeviceGetComputeInstanceId");
  Gpu* gpu = nullptr;
  Mig* mig = nullptr;
  const Return code = call.find(handle, gpu, &mig);
  if (code != nvml::kSuccess || mig == nullptr) return nvml::kNotSupported;
  *id = mig->compute_instance;
  return nvml::kSuccess;
}

}  // extern "C"

namespace nvml_stub {

// The functions are found by their names: a test program has to export its symbols.
void* resolve(const char* symbol) {
  return world().hidden.contains(symbol) ? nullptr : dlsym(RTLD_DEFAULT, symbol);
}

}  // namespace nvml_stub

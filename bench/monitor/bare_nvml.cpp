// The least that a program which shows GPUs can do: open the driver's library, ask every GPU for
// what `nvidia-smi` shows by default, print it, close. `pyrometer stat` is measured against it.
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

using Handle = void*;
struct Utilization {
  unsigned gpu, memory;
};
struct Memory {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct Process {
  unsigned pid;
  unsigned long long memory;
  unsigned gpu_instance, compute_instance;
};

template <typename Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

int main() {
  void* library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto init = find<int (*)()>(library, "nvmlInit_v2");
  const auto count = find<int (*)(unsigned*)>(library, "nvmlDeviceGetCount_v2");
  const auto get = find<int (*)(unsigned, Handle*)>(library, "nvmlDeviceGetHandleByIndex_v2");
  const auto name = find<int (*)(Handle, char*, unsigned)>(library, "nvmlDeviceGetName");
  const auto uuid = find<int (*)(Handle, char*, unsigned)>(library, "nvmlDeviceGetUUID");
  const auto util = find<int (*)(Handle, Utilization*)>(library, "nvmlDeviceGetUtilizationRates");
  const auto memory = find<int (*)(Handle, Memory*)>(library, "nvmlDeviceGetMemoryInfo_v2");
  const auto temperature =
      find<int (*)(Handle, int, unsigned*)>(library, "nvmlDeviceGetTemperature");
  const auto power = find<int (*)(Handle, unsigned*)>(library, "nvmlDeviceGetPowerUsage");
  const auto limit = find<int (*)(Handle, unsigned*)>(library, "nvmlDeviceGetEnforcedPowerLimit");
  const auto clock = find<int (*)(Handle, int, unsigned*)>(library, "nvmlDeviceGetClockInfo");
  const auto reasons = find<int (*)(Handle, unsigned long long*)>(
      library, "nvmlDeviceGetCurrentClocksThrottleReasons");
  const auto processes = find<int (*)(Handle, unsigned*, Process*)>(
      library, "nvmlDeviceGetComputeRunningProcesses_v3");
  const auto shutdown = find<int (*)()>(library, "nvmlShutdown");
  if (init() != 0) return 1;
  unsigned gpus = 0;
  count(&gpus);
  for (unsigned i = 0; i < gpus; ++i) {
    Handle gpu = nullptr;
    if (get(i, &gpu) != 0) continue;
    char text[96] = "";
    char id[96] = "";
    Utilization use{};
    Memory room{};
    room.version = sizeof(Memory) | 2U << 24U;
    unsigned celsius = 0, milliwatt = 0, cap = 0, sm = 0, dram = 0;
    unsigned long long mask = 0;
    std::vector<Process> list(64);
    auto listed = static_cast<unsigned>(list.size());
    name(gpu, text, sizeof text);
    uuid(gpu, id, sizeof id);
    util(gpu, &use);
    memory(gpu, &room);
    temperature(gpu, 0, &celsius);
    power(gpu, &milliwatt);
    limit(gpu, &cap);
    clock(gpu, 1, &sm);
    clock(gpu, 2, &dram);
    if (reasons != nullptr) reasons(gpu, &mask);
    if (processes == nullptr || processes(gpu, &listed, list.data()) != 0) listed = 0;
    std::printf("%u %s %s %u%% %llu/%llu %u C %u/%u mW %u %u MHz %llx %u processes\n", i, text, id,
                use.gpu, room.used, room.total, celsius, milliwatt, cap, sm, dram, mask, listed);
  }
  return shutdown();
}

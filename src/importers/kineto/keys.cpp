#include "importers/kineto/keys.h"

#include <array>

namespace pyrometer::importers::kineto {

ArgKey arg_key(std::string_view key) {
  switch (key.size()) {
    case 3:
      if (key == "Seq") return ArgKey::kSequence;
      break;
    case 4:
      if (key == "grid") return ArgKey::kGrid;
      if (key == "kind") return ArgKey::kCopyKind;
      if (key == "name") return ArgKey::kName;
      break;
    case 5:
      if (key == "block") return ArgKey::kBlock;
      if (key == "bytes" || key == "Bytes") return ArgKey::kBytes;
      if (key == "dtype") return ArgKey::kDtype;
      break;
    case 6:
      if (key == "device") return ArgKey::kDevice;
      if (key == "stream") return ArgKey::kStream;
      break;
    case 9:
      if (key == "Device Id") return ArgKey::kDeviceId;
      break;
    case 10:
      if (key == "Input Dims" || key == "Input dims") return ArgKey::kInputDims;
      if (key == "Input type") return ArgKey::kInputType;
      if (key == "Group size") return ArgKey::kGroupSize;
      break;
    case 11:
      if (key == "correlation") return ArgKey::kCorrelation;
      if (key == "Device Type") return ArgKey::kDeviceType;
      break;
    case 13:
      if (key == "shared memory") return ArgKey::kSharedMemory;
      if (key == "blocks per SM") return ArgKey::kBlocksPerSm;
      if (key == "graph node id") return ArgKey::kGraphNode;
      if (key == "In msg nelems") return ArgKey::kInElements;
      break;
    case 14:
      if (key == "Out msg nelems") return ArgKey::kOutElements;
      if (key == "Total Reserved") return ArgKey::kTotalReserved;
      break;
    case 15:
      if (key == "Collective name") return ArgKey::kCollective;
      if (key == "Total Allocated") return ArgKey::kTotalAllocated;
      break;
    case 18:
      if (key == "Process Group Name") return ArgKey::kGroupName;
      break;
    case 19:
      if (key == "Process Group Ranks") return ArgKey::kGroupRanks;
      break;
    case 20:
      if (key == "registers per thread") return ArgKey::kRegisters;
      break;
    case 25:
      if (key == "est. achieved occupancy %") return ArgKey::kOccupancy;
      break;
    default:
      break;
  }
  return ArgKey::kOther;
}

namespace {

struct NamedCategory {
  std::string_view name;
  Category category;
};

// The names of Kineto's activity types, and those of before 2021.
constexpr std::array<NamedCategory, 44> kCategories = {{
    {"cpu_op", Category::kCpuOp},
    {"Operator", Category::kCpuOp},
    {"cuda_runtime", Category::kApi},
    {"cuda_driver", Category::kApi},
    {"hip_runtime", Category::kApi},
    {"hip_driver", Category::kApi},
    {"xpu_runtime", Category::kApi},
    {"xpu_driver", Category::kApi},
    {"mtia_runtime", Category::kApi},
    {"glow_runtime", Category::kApi},
    {"privateuse1_runtime", Category::kApi},
    {"privateuse1_driver", Category::kApi},
    {"Runtime", Category::kApi},
    {"Driver", Category::kApi},
    {"kernel", Category::kKernel},
    {"concurrent_kernel", Category::kKernel},
    {"mtia_ccp_events", Category::kKernel},
    {"Kernel", Category::kKernel},
    {"gpu_memcpy", Category::kMemcpy},
    {"Memcpy", Category::kMemcpy},
    {"gpu_memset", Category::kMemset},
    {"Memset", Category::kMemset},
    {"user_annotation", Category::kAnnotation},
    {"UserAnnotation", Category::kAnnotation},
    {"python_function", Category::kPython},
    {"PythonFunction", Category::kPython},
    {"Python", Category::kPython},
    {"overhead", Category::kOverhead},
    {"Overhead", Category::kOverhead},
    {"cuda_sync", Category::kSync},
    {"Trace", Category::kTrace},
    {"cpu_instant_event", Category::kInstant},
    {"CpuInstantEvent", Category::kInstant},
    {"ac2g", Category::kNotNeeded},
    {"fwdbwd", Category::kNotNeeded},
    {"async", Category::kNotNeeded},
    {"async_cpu_to_gpu", Category::kNotNeeded},
    {"forward_backward", Category::kNotNeeded},
    {"gpu_user_annotation", Category::kNotNeeded},
    {"cuda_event", Category::kNotNeeded},
    {"cuda_profiler_range", Category::kNotNeeded},
    {"external_correlation", Category::kNotNeeded},
    {"hardware_counters", Category::kNotNeeded},
    {"mtia_counters", Category::kNotNeeded},
}};

}  // namespace

Category category_of(std::string_view text) {
  // The six that make up nearly every trace, before the list.
  switch (text.size()) {
    case 6:
      if (text == "cpu_op") return Category::kCpuOp;
      if (text == "kernel") return Category::kKernel;
      break;
    case 11:
      if (text == "cuda_driver") return Category::kApi;
      break;
    case 12:
      if (text == "cuda_runtime") return Category::kApi;
      break;
    case 15:
      if (text == "python_function") return Category::kPython;
      break;
    default:
      break;
  }
  for (const NamedCategory& c : kCategories) {
    if (c.name == text) return c.category;
  }
  return text.empty() ? Category::kNone : Category::kUnknown;
}

}  // namespace pyrometer::importers::kineto

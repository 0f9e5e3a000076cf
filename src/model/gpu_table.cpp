#include "model/gpu_table.h"

#include <algorithm>

namespace pyrometer::model {

const GpuInfo* find_gpu(std::string_view name) {
  const auto all = gpu_table();
  const auto at =
      std::find_if(all.begin(), all.end(), [name](const GpuInfo& gpu) { return gpu.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace pyrometer::model

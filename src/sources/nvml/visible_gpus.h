// The GPUs that CUDA programs started from here would see.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sources/nvml/nvml_api.h"

namespace pyrometer::sources::nvml {

// As CUDA_VISIBLE_DEVICES names them (numbers, UUIDs or their beginnings); where it is not set:
// empty. Set and empty hides all: "none".
[[nodiscard]] std::vector<std::string> visible_gpus();

// The same as names for CUDA_VISIBLE_DEVICES, one GPU each, also where it is not set: then the
// UUIDs of all GPUs. Errors: as of NVML; kNotFound where there is none.
[[nodiscard]] base::Result<std::vector<std::string>> gpu_names(const Opener& opener);

}  // namespace pyrometer::sources::nvml

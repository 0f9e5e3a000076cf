// Fills the table of CUPTI's functions from an opened library.
#pragma once

#include "cupti_abi.h"

namespace pyrometer::inject::cupti {

// False where one that we cannot do without is missing.
bool load_api(void* library, Api* api);

}  // namespace pyrometer::inject::cupti

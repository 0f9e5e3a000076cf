// Long kernels that fill little of the GPU.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_kernels_low_occupancy(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

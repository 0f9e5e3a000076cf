// The optimizer updates parameters with many small kernels.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_launch_unfused_optimizer(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

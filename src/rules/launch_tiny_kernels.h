// The same run of tiny kernels repeats all the time.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_launch_tiny_kernels(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

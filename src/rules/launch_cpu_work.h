// Operators on CPU tensors hold the device up.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_launch_cpu_work(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

// Nothing ran on a GPU.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_device_no_gpu_work(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

// GPUs are visible but not used.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_device_unused(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

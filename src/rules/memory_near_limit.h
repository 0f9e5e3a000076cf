// Device memory is nearly full.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_memory_near_limit(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

// Device memory grows from step to step.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_memory_growth(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

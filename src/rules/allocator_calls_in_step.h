// Device memory is allocated and freed in the steady step.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_allocator_calls_in_step(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

// The GPU is mostly free: a larger batch would fit.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_memory_batch_headroom(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

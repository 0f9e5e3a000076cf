// The machine runs short of memory: swapping, available memory that falls, a full /dev/shm.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_host_swapping(const Context& context, Judgement& judgement);
void judge_host_memory_exhaustion(const Context& context, Judgement& judgement);
void judge_host_shm_full(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

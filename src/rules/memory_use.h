// How device memory is used over time: fragmentation, retries, fluctuation, periodic peaks.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_memory_fragmentation(const Context& context, Judgement& judgement);
void judge_memory_allocator_retries(const Context& context, Judgement& judgement);
void judge_memory_fluctuation(const Context& context, Judgement& judgement);
void judge_memory_periodic_peaks(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

// The training waits for CPU time: a quota, an affinity, other processes, or its own threads.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_host_cpu_quota(const Context& context, Judgement& judgement);
void judge_host_affinity(const Context& context, Judgement& judgement);
void judge_host_cpu_saturated(const Context& context, Judgement& judgement);
void judge_host_oversubscribed(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

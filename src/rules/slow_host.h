// What makes all host code slower: tracing, profilers, a governor that saves power.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_debug_python_tracing(const Context& context, Judgement& judgement);
void judge_debug_profiler_on(const Context& context, Judgement& judgement);
void judge_host_governor(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

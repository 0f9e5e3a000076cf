// Something of the run is missing from the trace.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_trace_incomplete(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

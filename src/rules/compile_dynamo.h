// What torch.compile counts: recompilations and graph breaks.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_compile_recompilations(const Context& context, Judgement& judgement);
void judge_compile_graph_breaks(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

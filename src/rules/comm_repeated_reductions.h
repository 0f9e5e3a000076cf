// Gradients are reduced in every micro-batch.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_comm_repeated_reductions(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

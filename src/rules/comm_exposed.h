// Communication runs with nothing to compute beside it.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_comm_exposed(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

// Training waits for worker processes that deliver too slowly.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_input_bound(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

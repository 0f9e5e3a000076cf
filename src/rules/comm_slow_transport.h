// Communication that does not use the fast way.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_comm_slow_transport(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

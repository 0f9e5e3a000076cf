// Ranks wait for a slower one.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_comm_skew(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

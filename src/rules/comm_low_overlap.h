// Communication hardly overlaps with computation.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_comm_low_overlap(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

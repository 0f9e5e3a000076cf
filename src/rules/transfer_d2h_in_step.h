// Results are copied back to the host in every step.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_transfer_d2h_in_step(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

// Many tiny copies to the device in each step.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_transfer_small_copies(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

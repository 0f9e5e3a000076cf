// The device stands still: checkpoint.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_pauses_checkpoint(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

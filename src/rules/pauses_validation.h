// The device stands still: validation.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_pauses_validation(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

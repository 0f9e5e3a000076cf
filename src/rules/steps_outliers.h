// A few steps take far longer than the others.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_steps_outliers(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

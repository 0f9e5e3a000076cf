// The device stands still: compile.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_pauses_compile(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

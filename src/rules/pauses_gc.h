// The device stands still: gc.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_pauses_gc(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

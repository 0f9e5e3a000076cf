// The host issues work more slowly than the device does it.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_launch_bound(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

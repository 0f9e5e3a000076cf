// Launches are synchronous.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_debug_launch_blocking(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

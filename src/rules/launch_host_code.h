// The device waits for code outside operators.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_launch_host_code(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

// Autograd checks every gradient for NaN.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_debug_anomaly_mode(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

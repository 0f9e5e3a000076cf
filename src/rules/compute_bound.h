// The device is busy with the model's own work.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_compute_bound(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

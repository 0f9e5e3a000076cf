// Matrix kernels run in TF32 where half precision would do.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_precision_no_amp(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

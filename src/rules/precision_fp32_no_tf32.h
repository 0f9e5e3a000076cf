// Matrix kernels run in plain FP32 on a GPU with tensor cores.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_precision_fp32_no_tf32(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

// cuDNN searches for algorithms in the steady steps.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_layout_cudnn_benchmark(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

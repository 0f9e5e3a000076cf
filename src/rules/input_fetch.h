// Batches that are loaded and do not reach the training: what the workers are not to blame for.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_input_pin_thread(const Context& context, Judgement& judgement);
void judge_input_slow_fetch(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

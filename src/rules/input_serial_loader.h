// Training waits for a loader that runs in its own thread.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_input_serial_loader(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

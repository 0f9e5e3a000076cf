// The host waits for the device many times per step.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_sync_blocking_calls(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

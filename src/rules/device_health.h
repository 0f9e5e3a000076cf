// Errors of the hardware and properties of its set-up.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_device_errors(const Context& context, Judgement& judgement);
void judge_device_mig_slice(const Context& context, Judgement& judgement);
void judge_device_persistence_off(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

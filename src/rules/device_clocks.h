// Clocks are held down: by temperature, by the power limit, by an external brake.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_device_thermal_throttling(const Context& context, Judgement& judgement);
void judge_device_power_cap(const Context& context, Judgement& judgement);
void judge_device_power_brake(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

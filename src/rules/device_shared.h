// Another process computes on the same GPU.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_device_shared(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

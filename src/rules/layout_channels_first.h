// Convolutions convert their layout again and again.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_layout_channels_first(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

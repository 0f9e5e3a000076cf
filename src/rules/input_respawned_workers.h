// Each new iterator over the loader starts its workers again.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_input_respawned_workers(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

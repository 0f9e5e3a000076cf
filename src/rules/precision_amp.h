// Mixed precision that is on and does not help.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_precision_amp_without_effect(const Context& context, Judgement& judgement);
void judge_precision_scaler_skips(const Context& context, Judgement& judgement);

// Whether autocast is on and most of the matrix kernels' time is in wider arithmetic all the same:
// then the findings about precision that is not used at all are silent.
[[nodiscard]] bool amp_is_without_effect(const model::FactSet& facts);

}  // namespace pyrometer::rules

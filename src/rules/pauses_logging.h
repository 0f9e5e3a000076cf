// The device stands still: logging.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_pauses_logging(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

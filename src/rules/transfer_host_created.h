// Tensors are made on the host and then copied.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_transfer_host_created(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

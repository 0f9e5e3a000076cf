// Batches come from pageable memory: slow copies that block the host.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_transfer_pageable_h2d(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

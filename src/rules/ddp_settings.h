// How the model is spread over devices.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_ddp_data_parallel(const Context& context, Judgement& judgement);
void judge_ddp_find_unused_parameters(const Context& context, Judgement& judgement);
void judge_ddp_bucket_size(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

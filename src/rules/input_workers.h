// Why worker processes deliver batches too slowly.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_input_too_few_workers(const Context& context, Judgement& judgement);
void judge_input_decode_bound(const Context& context, Judgement& judgement);
void judge_input_one_worker(const Context& context, Judgement& judgement);
void judge_input_slow_storage(const Context& context, Judgement& judgement);
void judge_input_worker_affinity(const Context& context, Judgement& judgement);
void judge_input_too_many_workers(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

// Nothing ran on a GPU.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

// Why the process used no GPU, a clause, as far as its recording tells; empty where it does not.
[[nodiscard]] std::string why_no_gpu(const model::RankTimeline& rank);

void judge_device_no_gpu_work(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

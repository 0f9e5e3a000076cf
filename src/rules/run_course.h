// The course of the whole run: start, goodput, end.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_run_long_startup(const Context& context, Judgement& judgement);
void judge_run_idle_after_finish(const Context& context, Judgement& judgement);
void judge_run_no_progress(const Context& context, Judgement& judgement);
void judge_run_low_goodput(const Context& context, Judgement& judgement);
void judge_run_low_utilization(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

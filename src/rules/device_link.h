// The PCIe link: slower than it could be, or full.
#pragma once

#include "rules/rule.h"

namespace pyrometer::rules {

void judge_device_pcie_link(const Context& context, Judgement& judgement);
void judge_transfer_link_saturated(const Context& context, Judgement& judgement);

}  // namespace pyrometer::rules

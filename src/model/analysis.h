// Everything the passes found, passive. Rules and outputs read this.
#pragma once

#include <vector>

#include "model/activity_class.h"
#include "model/comm.h"
#include "model/facts.h"
#include "model/host_side.h"
#include "model/kernels.h"
#include "model/patterns.h"
#include "model/pauses.h"
#include "model/steps.h"
#include "model/transfers.h"
#include "model/waterfall.h"
#include "model/what_if.h"

namespace pyrometer::model {

struct RankAnalysis {
  std::vector<KernelTraits> kernel_traits;  // by NameId of the rank (default for non-kernels)
  std::vector<ApiClass> api_class;          // by NameId of the rank
  Steps steps;
  RankWaterfall waterfall;
  KernelTable kernels;
  HostSide host;
  Transfers transfers;
  CommTable comm;
  Patterns patterns;
  Pauses pauses;
  Dilation dilation;
  ReplayBaseline replay;
  FactSet facts;
};

struct JobAnalysis {
  std::vector<RankAnalysis> ranks;  // same order as Timeline::ranks
  CrossRank cross;
  CauseTimes causes{};  // all ranks, all devices
  FactSet facts;        // job-level
};

}  // namespace pyrometer::model

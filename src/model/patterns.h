// Results about structure in time: repeated sequences, outliers, the critical path.
#pragma once

#include <string>
#include <vector>

#include "model/types.h"

namespace pyrometer::model {

// The same run of consecutive small kernels, repeated: a candidate for fusion or graph capture.
struct RepeatedSequence {
  std::vector<NameId> kernels;
  bool back_to_back = false;  // repeats directly after itself: a loop over tensors or layers
  std::int64_t count = 0;
  DurationNs device_total = 0;
  DurationNs span_total = 0;  // first start to last end, summed
};

struct StepOutlier {
  Index step = 0;
  DurationNs length = 0;
  double sigmas = 0;  // robust: (x − median) / (1.4826 · MAD)
};

struct CriticalSegment {
  enum class Kind : std::uint8_t {
    kKernel,
    kCopy,
    kComm,
    kHostOp,
    kHostOther,
    kBlocked,
    kLaunchLatency,
    kDeviceGap
  };
  Kind kind = Kind::kKernel;
  NameId name = 0;
  Interval span;
};

struct CriticalPath {  // of one typical step (the median one)
  Index step = kNone;
  std::vector<CriticalSegment> segments;  // by time, tile the step
  struct Row {
    CriticalSegment::Kind kind;
    NameId name;
    DurationNs total;
  };
  std::vector<Row> summary;  // by total, descending
};

struct Patterns {
  std::vector<RepeatedSequence> sequences;
  std::vector<StepOutlier> outliers;
  std::int32_t outlier_period = 0;        // steps; 0: no period
  bool same_sequence_every_step = false;  // graph-capture candidate
  CriticalPath critical_path;
};

}  // namespace pyrometer::model

// Measured cost of the PyTorch profiler, the only place these figures stand in.
//
// Source: runs with and without the profiler on one NVIDIA H200 host (torch 2.11, CUDA 13.0);
// docs/concepts/dilation.md says how they were fitted and how well they predict.
#pragma once

#include <string_view>

namespace pyrometer::analysis {

// Shares of the time between host events that the profiler takes.
struct ShareRange {
  double low = 0;
  double middle = 0;
  double high = 0;
};

inline constexpr ShareRange kShare{0.32, 0.54, 0.72};  // low and high bound what the cases showed
inline constexpr double kShapesShare = 0.02;           // more with record_shapes
inline constexpr double kStackShare = 0.08;            // more with with_stack
inline constexpr double kMemoryShare = 0.02;           // more with profile_memory
inline constexpr double kEventFloorNs = 500;           // least time that an event itself needs
inline constexpr double kEventCapNs = 30'000;          // most that the profiler takes at one event
inline constexpr double kInputEventCapNs = 500;        // the same where no device is called

// Operators that only make a view: the same little work everywhere.
inline constexpr std::string_view kTrivialOps[] = {"aten::view", "aten::as_strided", "aten::detach",
                                                   "detach", "aten::_reshape_alias"};
// Lower quartile of their durations on the reference host, and the factor within which that
// quartile varied between cases on that host.
inline constexpr double kReferenceTrivialOpNs = 600;
inline constexpr double kReferenceSpread = 2;
inline constexpr double kMaxSpeedRatio = 4;  // beyond this the durations measure something else

}  // namespace pyrometer::analysis

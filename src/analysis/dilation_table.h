// Measured cost of the PyTorch profiler, the only place these figures stand in.
//
// Source: runs with and without the profiler on one NVIDIA H200 host (torch 2.11, CUDA 13.0);
// docs/concepts/dilation.md says how they were fitted and how well they predict.
#pragma once

#include <string_view>

namespace pyrometer::analysis {

// ns; low and high bound what the cases showed.
struct CostRange {
  double low = 0;
  double middle = 0;
  double high = 0;
  friend constexpr CostRange operator+(CostRange a, CostRange b) {
    return {a.low + b.low, a.middle + b.middle, a.high + b.high};
  }
};

inline constexpr CostRange kPerOp{2000, 3300, 4600};        // every cpu_op
inline constexpr CostRange kPerOpShapes{2000, 3200, 4000};  // on top with record_shapes
inline constexpr CostRange kPerOpStack{0, 0, 0};            // on top with with_stack
inline constexpr CostRange kPerOpMemory{0, 0, 0};           // on top with profile_memory
inline constexpr CostRange kPerCall{0, 0, 0};               // every runtime or driver API call
inline constexpr CostRange kPerPythonCall{0, 0, 0};         // every Python call (with_stack)

// Operators that only make a view: the same little work everywhere.
inline constexpr std::string_view kTrivialOps[] = {"aten::view", "aten::as_strided", "aten::detach",
                                                   "detach", "aten::_reshape_alias"};
// Lower quartile of their durations on the reference host, and the factor within which that
// quartile varied between cases on that host.
inline constexpr double kReferenceTrivialOpNs = 600;
inline constexpr double kReferenceSpread = 2;
inline constexpr double kMaxSpeedRatio = 4;  // beyond this the durations measure something else

}  // namespace pyrometer::analysis

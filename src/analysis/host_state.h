// What a host thread was doing at each moment, as the waterfall distinguishes it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/analysis.h"
#include "model/timeline.h"

namespace pyrometer::analysis {

enum class HostState : std::uint8_t {
  kNone,  // in no recorded range: other host code
  // Explicit regions; the innermost wins over everything below.
  kInput,
  kCheckpoint,
  kValidation,
  kCompile,
  kGc,
  kLogging,
  // Calls and operators, in order of precedence.
  kAlloc,    // device memory allocation or free
  kBlocked,  // blocking call: synchronize, blocking or pageable copy
  kIssue,    // operator or other API call
};

[[nodiscard]] constexpr bool is_region(HostState state) {
  return state >= HostState::kInput && state <= HostState::kLogging;
}

struct HostSegment {
  model::TimeNs start = 0;
  model::TimeNs end = 0;
  HostState state = HostState::kNone;
};

// True when the host waits inside the call: synchronize calls, blocking copies, and asynchronous
// copies that touch pageable memory (the driver stages those before it returns).
[[nodiscard]] bool is_blocking_call(const model::RankTimeline& timeline,
                                    const model::RankAnalysis& analysis, model::Index api_call);

// Disjoint segments by time; times not covered are HostState::kNone.
using HostSegments = std::vector<HostSegment>;

// Which regions count: those the trace names, or also those that passes inferred from patterns
// (RankAnalysis::pauses; main thread only, weaker than recorded ones).
enum class Regions : std::uint8_t { kRecorded, kWithInferred };

// Per-thread segments, computed on first use. Needs api_class (pass `classes`). Not thread-safe.
class HostStates {
 public:
  HostStates(const model::RankTimeline& timeline, const model::RankAnalysis& analysis,
             Regions regions = Regions::kRecorded);

  [[nodiscard]] const HostSegments& of(model::ThreadId thread);

  // Splits [span.start, span.end) by what feeds the device, as seen from `thread`: its own explicit
  // regions, then the main thread's, then its own calls and operators, then the main thread's (a
  // thread that is in none of its own was waiting for the main one). Calls
  // visit(HostState, start, end) for consecutive parts that tile the span.
  template <typename Visit>
  void split(model::ThreadId thread, model::Interval span, Visit visit) {
    cut(of(thread), span, [&](HostState own, model::TimeNs from, model::TimeNs to) {
      if (thread == timeline_.main_thread || is_region(own)) {
        visit(own, from, to);
        return;
      }
      cut(of(timeline_.main_thread), {from, to},
          [&](HostState main, model::TimeNs main_from, model::TimeNs main_to) {
            const bool use_main = is_region(main) || own == HostState::kNone;
            visit(use_main ? main : own, main_from, main_to);
          });
    });
  }

 private:
  template <typename Visit>
  static void cut(const HostSegments& segments, model::Interval span, Visit visit);

  const model::RankTimeline& timeline_;
  const model::RankAnalysis& analysis_;
  Regions regions_;
  std::vector<HostState> annotation_state_;  // by NameId; of annotations
  std::vector<HostState> python_state_;      // by NameId; of Python frames
  std::vector<std::optional<HostSegments>> by_thread_;
};

template <typename Visit>
void HostStates::cut(const HostSegments& segments, model::Interval span, Visit visit) {
  if (span.start >= span.end) return;
  // First segment that ends after the span's start.
  std::size_t low = 0;
  std::size_t high = segments.size();
  while (low < high) {
    const std::size_t mid = (low + high) / 2;
    if (segments[mid].end <= span.start) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  model::TimeNs at = span.start;
  for (; low < segments.size() && segments[low].start < span.end; ++low) {
    const HostSegment& segment = segments[low];
    if (segment.start > at) {
      visit(HostState::kNone, at, segment.start);
      at = segment.start;
    }
    const model::TimeNs to = segment.end < span.end ? segment.end : span.end;
    visit(segment.state, at, to);
    at = to;
  }
  if (at < span.end) visit(HostState::kNone, at, span.end);
}

}  // namespace pyrometer::analysis

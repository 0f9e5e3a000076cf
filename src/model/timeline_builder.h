// Builds a RankTimeline from rows in any order. The only way to make one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/timeline.h"

namespace pyrometer::model {

// Append rows to the tables of `timeline()` in any order (all columns but the derived ones: launch,
// first_activity, activity_count, op, parent and the ranges of threads and devices), intern names
// in its pool, then call finish() once. Threads and devices get their ids from thread() and
// device(). Not thread-safe; one builder per rank.
class TimelineBuilder {
 public:
  TimelineBuilder();

  [[nodiscard]] RankTimeline& timeline() { return timeline_; }
  // The id of a thread, made on first use. At most 65,535 threads; more share the last id and are
  // counted in the stats.
  [[nodiscard]] ThreadId thread(std::int64_t pid, std::string_view tid);
  [[nodiscard]] DeviceId device(std::int32_t ordinal);

  // Rows with their columns in one call, for importers and tests. Correlations link activities to
  // the call that launched them: the call with the same correlation that starts earliest.
  void add_activity(ActivityKind kind, TimeNs start, TimeNs end, NameId name, DeviceId device,
                    std::int32_t stream, std::uint64_t correlation,
                    CopyKind copy = CopyKind::kNotCopy, HostMemory host = HostMemory::kUnknown,
                    Index detail = kNone, Index comm = kNone, std::uint32_t graph_node = 0);
  void add_api_call(TimeNs start, TimeNs end, NameId name, ThreadId thread,
                    std::uint64_t correlation);
  void add_host_op(TimeNs start, TimeNs end, NameId name, ThreadId thread, NameId shapes = 0,
                   NameId dtypes = 0);
  void add_annotation(TimeNs start, TimeNs end, NameId name, ThreadId thread);
  void add_python(TimeNs start, TimeNs end, NameId name, ThreadId thread);

  // Sorts, links, checks, and hands the timeline over. Deterministic: any permutation of the rows
  // gives an equal timeline (ids of names, threads and devices apart).
  [[nodiscard]] RankTimeline finish();

 private:
  RankTimeline timeline_;
  std::vector<std::uint64_t> activity_correlation_;
  std::map<std::pair<std::int64_t, std::string>, ThreadId> thread_ids_;
  std::size_t last_thread_ = 0;
  std::size_t last_device_ = 0;
};

}  // namespace pyrometer::model

// The figures of HTA (the established Python analyser) computed from our Timeline under HTA's own
// definitions, faults included. Only for comparison: docs/concepts/reference-comparison.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/timeline.h"

namespace pyrometer::testing {

enum class HtaClass : std::uint8_t { kComputation, kCommunication, kMemory, kOther };

// One device row as HTA sees it: any event with a stream number.
struct HtaRow {
  enum class Source : std::uint8_t { kActivity, kSync, kOperator };
  model::TimeNs start = 0;
  model::TimeNs end = 0;
  std::string_view name;
  std::int32_t stream = 0;
  std::optional<model::TimeNs> launch;  // start of the call that launched it
  Source source = Source::kActivity;
  model::Index index = 0;  // of the table it comes from
  HtaClass klass = HtaClass::kOther;
};

struct HtaOptions {
  // Operators whose name begins so carry a stream number in this file ("" for none).
  std::string_view operators_with_stream;
  // How far floating point may move a time. A file without a base has µs since 1970, of which a
  // double holds 0.25 µs.
  model::DurationNs grain = 1;
  // HTA's default. The reference figures were made with it off.
  bool drop_last_step = false;
};

// All candidates, before HTA drops those that no call in the trace launched.
[[nodiscard]] std::vector<HtaRow> hta_candidates(const model::RankTimeline& timeline,
                                                 const HtaOptions& options);

// Those that HTA keeps. With two step markers or more, what a call launched that began before the
// end of the last step (its beginning when that is dropped); with fewer, all.
[[nodiscard]] std::vector<HtaRow> hta_rows(const model::RankTimeline& timeline,
                                           const HtaOptions& options);

[[nodiscard]] HtaClass hta_class(std::string_view name);
[[nodiscard]] std::string_view hta_class_name(HtaClass klass);

struct HtaTemporal {  // µs
  double kernel_time = 0;
  double idle = 0;
  double compute = 0;
  double non_compute = 0;
};
[[nodiscard]] HtaTemporal hta_temporal(const std::vector<HtaRow>& rows);

// (communication ∩ computation) / communication in %, rounded to two digits; nothing without
// communication.
[[nodiscard]] std::optional<double> hta_overlap_pct(const std::vector<HtaRow>& rows);

// Time by running classes ("COMPUTATION overlapping COMMUNICATION"). HTA cuts every single segment
// to whole µs in floating point, so a segment next to a whole µs may go either way: the sum lies
// between `low` and `high`.
struct HtaTypeTime {
  std::int64_t low_us = 0;
  std::int64_t high_us = 0;
};
[[nodiscard]] std::map<std::string, HtaTypeTime> hta_type_times(const std::vector<HtaRow>& rows);

// Summed duration by (name, class), µs; sync rows left out.
[[nodiscard]] std::map<std::pair<std::string, HtaClass>, double> hta_kernel_sums(
    const std::vector<HtaRow>& rows);

// Idle time by (stream, category). Negative gaps count, since HTA takes the previous row's end.
// `either_us`: gaps whose launch lies within a grain of the previous end, where floating point
// decides between this category and another.
struct HtaIdle {
  double us = 0;
  double either_us = 0;
};
[[nodiscard]] std::map<std::pair<std::int32_t, std::string>, HtaIdle> hta_idle(
    const std::vector<HtaRow>& rows, const HtaOptions& options);

}  // namespace pyrometer::testing

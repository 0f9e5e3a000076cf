#include "analysis/copies.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "analysis/exposed.h"
#include "analysis/periods.h"
#include "analysis/statistics.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::ActivityKind;
using model::CopyKind;
using model::CopyRow;
using model::DurationNs;
using model::FactId;
using model::HostMemory;
using model::Index;
using model::Interval;
using model::kNone;

constexpr const char* kNoSuchCopy = "no such copy of at least 64 KiB in the window";

// One row of the table while it is being filled.
struct Bucket {
  CopyRow row;
  std::vector<DurationNs> durations;
  DurationNs timed = 0;  // of the copies whose bytes are known
  // For the facts:
  DurationNs clipped_time = 0;
  DurationNs large_time = 0;
  std::int64_t large_bytes = 0;
  double stepped = 0, stepped_bytes = 0, stepped_small = 0;
};

using Key = std::tuple<bool, CopyKind, HostMemory>;
using Buckets = std::map<Key, Bucket>;

void add(const model::RankTimeline& t, const model::RankAnalysis& a, Index i, DurationNs alone,
         Bucket& bucket) {
  const Interval window = a.steps.window;
  const model::TimeNs start = t.activities.start[i];
  bucket.clipped_time += clipped(start, t.activities.end[i], window);
  bucket.row.exposed += alone;
  if (!contains(window, start)) return;
  const std::int64_t bytes = copy_bytes(t, i);
  const DurationNs duration = t.activities.duration(i);
  const bool is_small = bytes >= 0 && bytes < kSmallCopyBytes;
  bucket.durations.push_back(duration);
  if (bytes >= 0) {
    bucket.row.bytes = std::max<std::int64_t>(bucket.row.bytes, 0) + bytes;
    bucket.timed += duration;
  }
  if (is_small) ++bucket.row.small_count;
  if (bytes >= kSmallCopyBytes) {
    bucket.large_time += duration;
    bucket.large_bytes += bytes;
  }
  if (step_of_activity(t, a.steps, i) >= a.steps.steps.size()) return;
  ++bucket.stepped;
  bucket.stepped_bytes += static_cast<double>(std::max<std::int64_t>(bytes, 0));
  if (is_small) ++bucket.stepped_small;
}

double gigabytes_per_second(std::int64_t bytes, DurationNs time) {
  return static_cast<double>(bytes) / static_cast<double>(time);  // bytes/ns are GB/s
}

Buckets collect(const model::RankTimeline& t, const model::RankAnalysis& a) {
  Buckets buckets;
  for (const model::Device& device : t.devices) {
    const model::RowRange rows = device.activities;
    const auto is_copy = [&](Index i) { return t.activities.kind[i] != ActivityKind::kKernel; };
    const std::vector<DurationNs> alone = time_alone(t, device, a.steps.window);
    for (Index i = rows.begin; i < rows.end; ++i) {
      if (!is_copy(i)) continue;
      const bool is_memset = t.activities.kind[i] == ActivityKind::kMemset;
      const Key key{is_memset, t.activities.copy[i], t.activities.host_memory[i]};
      Bucket& bucket = buckets[key];
      bucket.row.is_memset = is_memset;
      bucket.row.kind = t.activities.copy[i];
      bucket.row.host = t.activities.host_memory[i];
      add(t, a, i, alone[i - rows.begin], bucket);
    }
  }
  return buckets;
}

std::vector<CopyRow> rows_of(Buckets& buckets) {
  std::vector<CopyRow> rows;
  for (auto& [key, bucket] : buckets) {
    if (bucket.durations.empty() && bucket.clipped_time == 0) continue;  // outside the window
    CopyRow row = bucket.row;
    row.stats = summarise(bucket.durations);
    if (row.bytes >= 0 && bucket.timed > 0) {
      row.bandwidth_gbs = gigabytes_per_second(row.bytes, bucket.timed);
    }
    rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const CopyRow& x, const CopyRow& y) {
    return x.stats.total > y.stats.total;
  });
  return rows;
}

// What several rows have together.
struct Sum {
  DurationNs time = 0, exposed = 0, large_time = 0;
  std::int64_t large_bytes = 0;
  double bytes = 0;
  double stepped = 0, stepped_bytes = 0, stepped_small = 0;
};

template <typename Select>
Sum sum_of(const Buckets& buckets, Select select) {
  Sum sum;
  for (const auto& [key, bucket] : buckets) {
    if (!select(bucket.row)) continue;
    sum.time += bucket.clipped_time;
    sum.exposed += bucket.row.exposed;
    sum.large_time += bucket.large_time;
    sum.large_bytes += bucket.large_bytes;
    sum.bytes += static_cast<double>(std::max<std::int64_t>(bucket.row.bytes, 0));
    sum.stepped += bucket.stepped;
    sum.stepped_bytes += bucket.stepped_bytes;
    sum.stepped_small += bucket.stepped_small;
  }
  return sum;
}

auto of_kind(CopyKind kind) {
  return [kind](const CopyRow& row) { return !row.is_memset && row.kind == kind; };
}

auto h2d_from(HostMemory host) {
  return [host](const CopyRow& row) {
    return !row.is_memset && row.kind == CopyKind::kH2D && row.host == host;
  };
}

// Host time in the calls behind host-to-device copies.
DurationNs h2d_call_time(const model::RankTimeline& t, Interval window) {
  DurationNs time = 0;
  for (Index i = 0; i < t.activities.size(); ++i) {
    const Index call = t.activities.launch[i];
    if (t.activities.copy[i] != CopyKind::kH2D || call == kNone) continue;
    if (t.api_calls.first_activity[call] != i) continue;  // a graph launch counts once
    time += clipped(t.api_calls.start[call], t.api_calls.end[call], window);
  }
  return time;
}

void set_h2d_facts(const model::RankTimeline& t, const model::RankAnalysis& a,
                   const Buckets& buckets, FactWriter& facts) {
  const Sum all = sum_of(buckets, of_kind(CopyKind::kH2D));
  facts.per_step(FactId::kCopiesH2dPerStep, all.stepped);
  facts.per_step(FactId::kCopiesH2dBytesPerStep, all.stepped_bytes);
  facts.per_step(FactId::kCopiesH2dSmallPerStep, all.stepped_small);
  facts.device_share(FactId::kCopiesH2dShare, all.time);
  facts.device_share(FactId::kCopiesH2dExposedShare, all.exposed);
  const Sum pageable = sum_of(buckets, h2d_from(HostMemory::kPageable));
  facts.device_share(FactId::kCopiesH2dPageableShare, pageable.time);
  facts.device_share(FactId::kCopiesH2dPageableExposedShare, pageable.exposed);
  facts.per_step(FactId::kCopiesH2dPageablePerStep, pageable.stepped);
  facts.per_step(FactId::kCopiesH2dPageableBytesPerStep, pageable.stepped_bytes);
  facts.ratio(FactId::kCopiesH2dPageableOfBytes, pageable.bytes, all.bytes,
              "no host-to-device copy of known size in the window");
  const Sum pinned = sum_of(buckets, h2d_from(HostMemory::kPinned));
  const auto bandwidth = [&](FactId id, const Sum& sum) {
    facts.ratio(id, static_cast<double>(sum.large_bytes), static_cast<double>(sum.large_time),
                kNoSuchCopy);
  };
  bandwidth(FactId::kCopiesH2dPageableBandwidth, pageable);
  bandwidth(FactId::kCopiesH2dPinnedBandwidth, pinned);
  if (t.api_calls.size() == 0) {
    facts.missing(FactId::kCopiesH2dCallShare, "no runtime or driver calls were recorded");
  } else {
    facts.host_share(FactId::kCopiesH2dCallShare, h2d_call_time(t, a.steps.window));
  }
}

void set_other_facts(const Buckets& buckets, FactWriter& facts) {
  const Sum d2h = sum_of(buckets, of_kind(CopyKind::kD2H));
  facts.per_step(FactId::kCopiesD2hPerStep, d2h.stepped);
  facts.per_step(FactId::kCopiesD2hBytesPerStep, d2h.stepped_bytes);
  facts.per_step(FactId::kCopiesD2hSmallPerStep, d2h.stepped_small);
  facts.device_share(FactId::kCopiesD2hShare, d2h.time);
  facts.device_share(FactId::kCopiesD2hExposedShare, d2h.exposed);
  facts.device_share(FactId::kCopiesD2dShare, sum_of(buckets, of_kind(CopyKind::kD2D)).time);
  facts.device_share(FactId::kCopiesP2pShare, sum_of(buckets, of_kind(CopyKind::kP2P)).time);
  const Sum memsets = sum_of(buckets, [](const CopyRow& row) { return row.is_memset; });
  facts.device_share(FactId::kCopiesMemsetShare, memsets.time);
  facts.per_step(FactId::kCopiesMemsetsPerStep, memsets.stepped);
}

// Device-to-host copies by step of the call that issued them: the copies of a checkpoint may begin
// after the step's marker has ended.
void set_burst_facts(const model::RankTimeline& t, const model::RankAnalysis& a,
                     FactWriter& facts) {
  const auto& steps = a.steps.steps;
  const std::vector<FactId> ids = {FactId::kCopiesD2hBurstSteps, FactId::kCopiesD2hBurstBytes,
                                   FactId::kCopiesD2hBurstPeriod,
                                   FactId::kCopiesD2hBurstExcessShare};
  if (steps.size() < 3) {
    facts.missing(ids, "fewer than three steps");
    return;
  }
  std::vector<double> bytes(steps.size(), 0);
  std::vector<int> count(steps.size(), 0);
  for (Index i = 0; i < t.activities.size(); ++i) {
    if (t.activities.copy[i] != CopyKind::kD2H) continue;
    const std::size_t step = step_of_activity(t, a.steps, i);
    if (step >= steps.size()) continue;
    ++count[step];
    bytes[step] += static_cast<double>(std::max<std::int64_t>(copy_bytes(t, i), 0));
  }
  constexpr int kMinCopies = 8;
  constexpr double kMinBytes = 1 << 20;
  const double usual = median(bytes);
  std::vector<double> lengths;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    lengths.push_back(static_cast<double>(comparable_length(a.steps, i)));
  }
  const double usual_length = median(lengths);
  std::vector<std::size_t> bursts;
  double burst_bytes = 0;
  double excess = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (count[i] < kMinCopies || bytes[i] < kMinBytes || bytes[i] < 10 * usual) continue;
    bursts.push_back(i);
    burst_bytes += bytes[i];
    excess += lengths[i] - usual_length;
  }
  facts.set(FactId::kCopiesD2hBurstSteps, static_cast<double>(bursts.size()));
  facts.ratio(FactId::kCopiesD2hBurstBytes, burst_bytes, static_cast<double>(bursts.size()),
              "no burst of device-to-host copies");
  facts.set(FactId::kCopiesD2hBurstPeriod, static_cast<double>(even_spacing(bursts, steps.size())));
  facts.host_share(FactId::kCopiesD2hBurstExcessShare,
                   static_cast<DurationNs>(std::max(excess, 0.0)));
}

}  // namespace

std::int64_t copy_bytes(const model::RankTimeline& t, Index activity) {
  const Index detail = t.activities.detail[activity];
  return detail == kNone ? -1 : t.copy_bytes[detail];
}

void measure_copies(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  a.transfers.copies.clear();
  if (active_devices(t, a.steps.window) == 0) {
    facts.all_missing("copies", "no device activity in the window");
    return;
  }
  Buckets buckets = collect(t, a);
  a.transfers.copies = rows_of(buckets);
  set_h2d_facts(t, a, buckets, facts);
  set_other_facts(buckets, facts);
  set_burst_facts(t, a, facts);
}

}  // namespace pyrometer::analysis

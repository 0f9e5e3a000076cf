#include <algorithm>
#include <numeric>

#include "output/json_parts.h"

namespace pyrometer::output {
namespace {

using base::JsonLayout;
using base::JsonWriter;

constexpr std::size_t kLongestGaps = 100;

void write_gaps(JsonWriter& json, const model::RankTimeline& timeline,
                const model::DeviceWaterfall& device, model::TimeNs origin) {
  model::DurationNs total = 0;
  for (const model::Gap& gap : device.gaps) total += gap.span.length();
  std::vector<std::size_t> order(device.gaps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t shown = std::min(kLongestGaps, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      const model::DurationNs left = device.gaps[a].span.length();
                      const model::DurationNs right = device.gaps[b].span.length();
                      return left != right ? left > right : a < b;
                    });
  json.begin_object();
  json.member("count", device.gaps.size());
  json.member("total_ns", total);
  json.key("longest");
  json.begin_array();
  for (std::size_t i = 0; i < shown; ++i) {
    const model::Gap& gap = device.gaps[order[i]];
    json.begin_object(JsonLayout::kInline);
    json.member("offset_ns", gap.span.start - origin);
    json.member("length_ns", gap.span.length());
    std::optional<std::string_view> next;
    if (gap.next != model::kNone) next = timeline.name(timeline.activities.name[gap.next]);
    json.member("next_activity", next);
    json.key("causes_ns");
    write_cause_ns_json(json, gap.causes);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_waterfall(JsonWriter& json, const model::RankTimeline& timeline,
                     const model::RankAnalysis& analysis, const model::DeviceWaterfall& device) {
  const model::TimeNs origin = analysis.steps.window.start;
  json.begin_object();
  json.member("window_ns", device.window.length());
  json.member("busy_ns", device.busy());
  json.member("idle_ns", device.idle());
  json.key("causes");
  write_causes_json(json, device.causes);
  json.key("unattributed");
  json.begin_array();
  for (const model::UnattributedReason& reason : device.unattributed) {
    json.begin_object(JsonLayout::kInline);
    json.member("reason", reason.reason);
    json.member("ns", reason.time);
    json.end_object();
  }
  json.end_array();
  json.key("steps");
  json.begin_array();
  const std::size_t steps = std::min(device.steps.size(), analysis.steps.steps.size());
  for (std::size_t i = 0; i < steps; ++i) {
    json.begin_object(JsonLayout::kInline);
    json.member("number", analysis.steps.steps[i].number);
    json.key("causes_ns");
    write_cause_ns_json(json, device.steps[i]);
    json.end_object();
  }
  json.end_array();
  json.key("gaps");
  write_gaps(json, timeline, device, origin);
  json.end_object();
}

void write_launches(JsonWriter& json, const model::LaunchStats& launch) {
  json.begin_object();
  const bool any = launch.launches > 0;
  const bool any_empty = launch.empty_queue_launches > 0;
  const auto if_any = [](bool is, auto value) { return is ? std::optional(value) : std::nullopt; };
  json.member("launches", launch.launches);
  json.member("per_step", launch.per_step);
  json.member("empty_queue_launches", launch.empty_queue_launches);
  json.member("empty_queue_latency_p50_ns", if_any(any_empty, launch.latency_p50));
  json.member("empty_queue_latency_p95_ns", if_any(any_empty, launch.latency_p95));
  json.member("queue_delay_p50_ns", if_any(any, launch.queue_delay_p50));
  json.member("queue_empty_share", if_any(any, launch.queue_empty_share));
  json.member("queue_length_mean", if_any(any, launch.queue_length_mean));
  json.member("queue_length_max", if_any(any, launch.queue_length_max));
  json.member("short_kernel_share", launch.short_kernel_share);
  json.key("queue_curve");
  json.begin_array(JsonLayout::kInline);
  for (const double length : launch.queue_curve) json.value(length);
  json.end_array();
  json.end_object();
}

void write_memory(JsonWriter& json, const model::MemoryCurve& curve, model::TimeNs origin) {
  json.begin_object();
  json.member("recorded", curve.recorded);
  json.member("peak_allocated_bytes", if_known(curve.peak_allocated));
  json.member("peak_reserved_bytes", if_known(curve.peak_reserved));
  json.member("reserved_at_peak_bytes", if_known(curve.reserved_at_peak));
  json.member("total_bytes", if_known(curve.total));
  json.member("growth_bytes_per_step",
              curve.recorded ? std::optional(curve.growth_per_step) : std::nullopt);
  json.member("growth_r", curve.recorded ? std::optional(curve.growth_r) : std::nullopt);
  json.key("curve");
  json.begin_array();
  for (const model::MemoryPoint& point : curve.curve) {
    json.begin_object(JsonLayout::kInline);
    json.member("offset_ns", point.time - origin);
    json.member("allocated_bytes", if_known(point.allocated));
    json.member("reserved_bytes", if_known(point.reserved));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void write_device(JsonWriter& json, const model::RankTimeline& timeline,
                  const model::RankAnalysis& analysis, model::DeviceId id) {
  const model::Device& device = timeline.devices[id];
  json.begin_object();
  json.member("ordinal", device.ordinal);
  json.member("name", if_given(device.name));
  json.member("total_memory_bytes", if_known(device.total_memory_bytes));
  json.member("compute_major", if_known(device.compute_major));
  json.member("compute_minor", if_known(device.compute_minor));
  json.member("multiprocessors", if_known(device.multiprocessors));
  json.member("activities", device.activities.size());

  const auto& waterfalls = analysis.waterfall.devices;
  const auto waterfall = std::find_if(
      waterfalls.begin(), waterfalls.end(),
      [&](const model::DeviceWaterfall& w) { return w.device == id && w.window.length() > 0; });
  json.key("waterfall");
  if (waterfall == waterfalls.end()) {
    json.null();
  } else {
    write_waterfall(json, timeline, analysis, *waterfall);
  }
  json.key("launch_behaviour");
  if (id < analysis.host.launch.size()) {
    write_launches(json, analysis.host.launch[id]);
  } else {
    json.null();
  }
  const auto& memory = analysis.transfers.memory;
  const auto curve = std::find_if(memory.begin(), memory.end(),
                                  [&](const model::MemoryCurve& m) { return m.device == id; });
  json.key("memory");
  if (curve == memory.end()) {
    json.null();
  } else {
    write_memory(json, *curve, analysis.steps.window.start);
  }
  json.end_object();
}

}  // namespace

void write_devices_json(JsonWriter& json, const model::RankTimeline& timeline,
                        const model::RankAnalysis& analysis) {
  json.begin_array();
  for (std::size_t i = 0; i < timeline.devices.size(); ++i) {
    write_device(json, timeline, analysis, static_cast<model::DeviceId>(i));
  }
  json.end_array();
}

}  // namespace pyrometer::output

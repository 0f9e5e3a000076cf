#include "server/documents.h"

#include <algorithm>
#include <chrono>

#include "base/json_writer.h"
#include "base/version.h"
#include "readout/time_text.h"
#include "server/self_metrics.h"

namespace pyrometer::server {
namespace {

using base::JsonLayout;
using base::JsonWriter;
using readout::DeviceState;
using readout::LiveEvent;
using readout::LiveSource;
using readout::LiveView;
using sources::SourceState;

std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

template <typename Fill>
std::string document(std::string_view schema, JsonLayout layout, const Fill& fill) {
  std::string text;
  JsonWriter json([&text](std::string_view piece) {
    text += piece;
    return true;
  });
  json.begin_object(layout);
  json.member("schema", schema);
  fill(json);
  json.end_object();
  static_cast<void>(json.finish());
  return text;
}

void write_head(JsonWriter& json, const std::string& host) {
  json.key("tool");
  json.begin_object(JsonLayout::kInline);
  json.member("name", "pyrometer");
  json.member("version", base::version());
  json.end_object();
  json.member("time", readout::utc_text(unix_ms_now()));
  json.member("host", host);
}

// The moment of CLOCK_MONOTONIC on the wall clock; null where there was none.
void write_time(JsonWriter& json, std::string_view key, std::int64_t at_ns, std::int64_t now_ns) {
  constexpr std::int64_t kMillisecond = 1'000'000;
  json.key(key);
  if (at_ns == 0) return json.null();
  json.value(readout::utc_text(unix_ms_now() - (now_ns - at_ns) / kMillisecond));
}

void write_event(JsonWriter& json, const LiveEvent& event) {
  json.member("number", event.number);
  json.member("time", readout::utc_text(event.unix_ms));
  json.member("kind", sources::event_name(event.kind));
  json.member("source", event.source);
  json.key("uuid");
  if (event.device_uuid.empty()) {
    json.null();
  } else {
    json.value(event.device_uuid);
  }
  json.member("code", event.code);
  json.member("text", event.text);
}

void write_optional_time(JsonWriter& json, std::string_view key, std::int64_t unix_ms) {
  json.key(key);
  if (unix_ms == 0) return json.null();
  json.value(readout::utc_text(unix_ms));
}

void write_rank(JsonWriter& json, const RecordingStatus& recording, const RankStatus& rank) {
  json.begin_object();
  json.member("rank", rank.rank);
  json.member("gpus", rank.gpus);
  json.member("steps", rank.steps);
  json.member("step_seconds", rank.step_seconds);
  json.member("samples_per_second", rank.samples_per_s);
  const auto write_causes = [&](std::string_view key, double factor) {
    json.key(key);
    json.begin_object(JsonLayout::kInline);
    for (std::size_t i = 0; i < model::kCauseCount; ++i) {
      json.member(model::cause_info(static_cast<model::Cause>(i)).id, (*rank.causes)[i] * factor);
    }
    json.end_object();
  };
  if (rank.causes) {
    write_causes("causes", 1);
  } else {
    json.key("causes");
    json.null();
  }
  if (rank.causes && recording.usd_per_gpu_hour) {
    write_causes("usd_per_hour", static_cast<double>(rank.gpus) * *recording.usd_per_gpu_hour);
  } else {
    json.key("usd_per_hour");
    json.null();
  }
  json.end_object();
}

void write_finding(JsonWriter& json, const FindingStatus& finding) {
  json.begin_object();
  json.member("id", finding.id);
  json.member("severity", finding.severity);
  json.member("confidence", finding.confidence);
  json.member("title", finding.title);
  json.member("summary", finding.summary);
  json.member("fix", finding.fix);
  json.key("ranks");
  json.begin_array(JsonLayout::kInline);
  for (const std::int32_t rank : finding.ranks) json.value(rank);
  json.end_array();
  json.member("share_of_time", finding.share_of_time);
  json.end_object();
}

void write_recording(JsonWriter& json, const RecordingStatus& one) {
  json.begin_object();
  json.member("name", one.name);
  json.member("path", one.path);
  json.member("growing", one.is_growing);
  json.member("bytes", one.bytes);
  write_optional_time(json, "changed", one.changed_ms);
  write_optional_time(json, "analysed", one.analysed_ms);
  json.member("analysis_seconds", one.analysis_seconds);
  json.key("problem");
  if (one.problem.empty()) {
    json.null();
  } else {
    json.value(one.problem);
  }
  json.member("has_report", one.report != nullptr);
  json.member("verdict", one.verdict);
  json.member("usd_per_gpu_hour", one.usd_per_gpu_hour);
  json.key("ranks");
  json.begin_array();
  for (const RankStatus& rank : one.ranks) write_rank(json, one, rank);
  json.end_array();
  json.key("findings");
  json.begin_array();
  for (const FindingStatus& finding : one.findings) write_finding(json, finding);
  json.end_array();
  json.end_object();
}

}  // namespace

Health health_of(const LiveView& view, std::int64_t now_ns, std::int64_t most_age_ns) {
  Health health;
  bool has_recent = false;
  bool hangs = false;
  for (const LiveSource& source : view.sources) {
    has_recent = has_recent || (source.state == SourceState::kRunning &&
                                now_ns - source.last_good_ns <= most_age_ns);
    hangs = hangs || source.state == SourceState::kStale;
    if (source.state == SourceState::kRunning) continue;
    std::string reason = source.name + " is " + std::string(state_text(source.state));
    if (!source.reason.empty()) reason += ": " + source.reason;
    health.reasons.push_back(std::move(reason));
  }
  health.is_ok = has_recent && !hangs;
  if (!health.is_ok && health.reasons.empty()) health.reasons.emplace_back("nothing was read yet");
  return health;
}

std::string health_document(const Health& health, const LiveView& view, std::int64_t now_ns) {
  return document("pyrometer.health/1", JsonLayout::kLines, [&](JsonWriter& json) {
    write_head(json, view.snapshot->host);
    json.member("status", health.is_ok ? "ok" : "failing");
    json.key("reasons");
    json.begin_array();
    for (const std::string& reason : health.reasons) json.value(reason);
    json.end_array();
    json.key("sources");
    json.begin_array();
    for (const LiveSource& source : view.sources) {
      json.begin_object(JsonLayout::kInline);
      json.member("name", source.name);
      json.member("state", state_text(source.state));
      write_time(json, "last_success", source.last_good_ns, now_ns);
      json.end_object();
    }
    json.end_array();
    json.key("gpus");
    json.begin_object(JsonLayout::kInline);
    for (const DeviceState state : {DeviceState::kOk, DeviceState::kLost, DeviceState::kAsleep}) {
      json.member(readout::state_name(state),
                  std::ranges::count_if(view.snapshot->devices, [state](const auto& device) {
                    return device.state == state && !device.is_mig;
                  }));
    }
    json.end_object();
  });
}

std::string events_document(const LiveView& view, std::uint64_t since) {
  return document("pyrometer.events/1", JsonLayout::kLines, [&](JsonWriter& json) {
    write_head(json, view.snapshot->host);
    json.key("events");
    json.begin_array();
    for (const LiveEvent& event : view.events) {
      if (event.number <= since) continue;
      json.begin_object(JsonLayout::kInline);
      write_event(json, event);
      json.end_object();
    }
    json.end_array();
  });
}

std::string event_line(const LiveEvent& event) {
  return document("pyrometer.event/1", JsonLayout::kInline,
                  [&](JsonWriter& json) { write_event(json, event); });
}

std::string recordings_document(const std::vector<RecordingStatus>& recordings,
                                const std::string& host) {
  return document("pyrometer.recordings/1", JsonLayout::kLines, [&](JsonWriter& json) {
    write_head(json, host);
    json.key("recordings");
    json.begin_array();
    for (const RecordingStatus& one : recordings) write_recording(json, one);
    json.end_array();
  });
}

}  // namespace pyrometer::server

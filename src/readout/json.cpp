#include "readout/json.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/version.h"
#include "readout/time_text.h"

namespace pyrometer::readout {
namespace {

using base::JsonLayout;
using base::JsonWriter;

// 0.41 rather than 0.41000000000000003, which is 41 times 0.01.
double without_noise(double number) {
  return std::strtod(fmt::format("{:.15g}", number).c_str(), nullptr);
}

// Numbers that are whole are written so.
void write_value(JsonWriter& json, const Value& value) {
  constexpr double kLargestWhole = 9007199254740992;  // 2^53
  const double* number = value.number();
  if (const std::string* text = value.text()) {
    json.value(*text);
  } else if (number == nullptr) {
    json.null();
  } else if (std::trunc(*number) == *number && std::abs(*number) <= kLargestWhole) {
    json.value(static_cast<std::int64_t>(*number));
  } else {
    json.value(without_noise(*number));
  }
}

using Named = std::vector<std::pair<std::string_view, const Value*>>;

// {"user": "belongs to another PID namespace: …"}: why values are null.
void write_missing(JsonWriter& json, const Named& values, JsonLayout layout) {
  json.key("missing");
  json.begin_object(layout);
  for (const auto& [name, value] : values) {
    if (value->is_missing()) json.member(name, value->reason());
  }
  json.end_object();
}

void write_process_members(JsonWriter& json, const Process& process) {
  const sources::ProcessOwner& owner = process.owner;
  const Named values = {{"user", &owner.user},
                        {"program", &owner.program},
                        {"arguments", &owner.arguments},
                        {"container", &owner.container},
                        {"slurm_job", &owner.slurm_job},
                        {"pod", &owner.pod},
                        {"pod_namespace", &owner.pod_namespace},
                        {"pod_container", &owner.pod_container},
                        {"pod_uid", &owner.pod_uid},
                        {"recording", &owner.recording},
                        {"rank", &owner.rank},
                        {"memory_bytes", &process.memory},
                        {"shared_memory_bytes", &process.shared_memory},
                        {"util", &process.util}};
  json.member("pid", process.pid);
  json.member("kind", process.computes ? "compute" : "graphics");
  for (const auto& [name, value] : values) {
    json.key(name);
    write_value(json, *value);
  }
  write_missing(json, values, JsonLayout::kInline);
}

void write_process(JsonWriter& json, const Process& process, JsonLayout layout) {
  json.begin_object(layout);
  write_process_members(json, process);
  json.end_object();
}

void write_tool(JsonWriter& json) {
  json.key("tool");
  json.begin_object(JsonLayout::kInline);
  json.member("name", "pyrometer");
  json.member("version", base::version());
  json.end_object();
}

// Null where there is none.
void write_problem(JsonWriter& json, const Snapshot& snapshot, JsonLayout layout) {
  json.key("problem");
  if (!snapshot.problem) return json.null();
  json.begin_object(layout);
  json.member("message", snapshot.problem->message);
  json.member("advice", snapshot.problem->advice);
  json.end_object();
}

void write_device(JsonWriter& json, const Device& device, JsonLayout layout) {
  json.begin_object(layout);
  json.member("label", label_of(device));
  json.member("kind", device.is_mig ? "mig" : "gpu");
  json.member("state", state_name(device.state));
  json.key("throttled_by");
  // Not known is not the same as none.
  if (value_of(device, MetricId::kGpuThrottleMask).is_missing()) {
    json.null();
  } else {
    json.begin_array(JsonLayout::kInline);
    for (const ThrottleWord& word : throttled_by(device)) json.value(word.id);
    json.end_array();
  }
  Named values;
  for (std::size_t i = 0; i < sources::kMetricCount; ++i) {
    const auto metric = static_cast<MetricId>(i);
    const sources::MetricInfo& info = sources::metric_info(metric);
    if (info.scope == sources::Scope::kDevice) {
      values.emplace_back(info.id, &value_of(device, metric));
    }
  }
  json.key("metrics");
  json.begin_object(layout);
  for (const auto& [name, value] : values) {
    json.key(name);
    write_value(json, *value);
  }
  json.end_object();
  write_missing(json, values, layout);
  json.key("processes");
  json.begin_array(layout);
  for (const Process& process : device.processes) write_process(json, process, layout);
  json.end_array();
  json.end_object();
}

}  // namespace

bool write_json(const Snapshot& snapshot, JsonLayout layout, const base::TextSink& sink) {
  JsonWriter json(sink);
  json.begin_object(layout);
  json.member("schema", "pyrometer.stat/1");
  write_tool(json);
  json.member("time", utc_text(snapshot.unix_ms));
  json.member("host", snapshot.host);
  write_problem(json, snapshot, layout);
  json.key("devices");
  json.begin_array(layout);
  for (const Device& device : snapshot.devices) write_device(json, device, layout);
  json.end_array();
  json.end_object();
  return json.finish();
}

bool write_processes_json(const Snapshot& snapshot, const base::TextSink& sink) {
  JsonWriter json(sink);
  json.begin_object();
  json.member("schema", "pyrometer.processes/1");
  write_tool(json);
  json.member("time", utc_text(snapshot.unix_ms));
  json.member("host", snapshot.host);
  write_problem(json, snapshot, JsonLayout::kLines);
  json.key("processes");
  json.begin_array();
  for (const Device& device : snapshot.devices) {
    for (const Process& process : device.processes) {
      json.begin_object(JsonLayout::kInline);
      json.member("gpu", label_of(device));
      json.key("uuid");
      write_value(json, value_of(device, MetricId::kGpuUuid));
      write_process_members(json, process);
      json.end_object();
    }
  }
  json.end_array();
  json.end_object();
  return json.finish();
}

}  // namespace pyrometer::readout

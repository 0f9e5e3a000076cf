#include "importers/kineto/metadata.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "importers/kineto/numbers.h"
#include "importers/kineto/readable_text.h"

namespace pyrometer::importers::kineto {
namespace {

using Json = nlohmann::json;

constexpr std::array<std::string_view, 16> kWanted = {"deviceProperties",    "distributedInfo",
                                                      "host_name",           "hostname",
                                                      "traceName",           "trace_id",
                                                      "record_shapes",       "with_stack",
                                                      "profile_memory",      "cuda_runtime_version",
                                                      "cuda_driver_version", "hip_runtime_version",
                                                      "hip_driver_version",  "roctracer_version",
                                                      "baseTimeNanoseconds", "displayTimeUnit"};

template <typename Int>
Int integer_or(const Json& object, const char* key, Int missing) {
  const auto at = object.find(key);
  if (at == object.end()) return missing;
  std::int64_t value = 0;
  if (at->is_number_unsigned()) {
    value = static_cast<std::int64_t>(std::min<std::uint64_t>(
        at->get<std::uint64_t>(), std::numeric_limits<std::int64_t>::max()));
  } else if (at->is_number_integer()) {
    value = at->get<std::int64_t>();
  } else if (at->is_string()) {
    const auto parsed = parse_integer(at->get_ref<const std::string&>());
    if (!parsed) return missing;
    value = *parsed;
  } else {
    return missing;
  }
  if (value < std::numeric_limits<Int>::min() || value > std::numeric_limits<Int>::max()) {
    return missing;
  }
  return static_cast<Int>(value);
}

std::string string_or_empty(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_string()) return {};
  TextFlaws ignored;
  // Already unescaped: only what a terminal must not see is still to go.
  std::string text = at->get<std::string>();
  std::replace(text.begin(), text.end(), '\\', '/');
  return readable_text(text, ignored);
}

// A string value; tolerant of unescaped backslashes, for paths.
std::string text_of(std::string_view json) {
  TextFlaws ignored;
  if (json.size() >= 2 && json.front() == '"' && json.back() == '"') {
    return readable_text(json.substr(1, json.size() - 2), ignored);
  }
  return readable_text(json, ignored);
}

std::string_view unquoted(std::string_view json) {
  if (json.size() >= 2 && json.front() == '"') return json.substr(1, json.size() - 2);
  return json;
}

std::optional<bool> flag_of(std::string_view json) {
  const std::string_view text = unquoted(json);
  if (text == "1" || text == "true" || text == "True") return true;
  if (text == "0" || text == "false" || text == "False") return false;
  return std::nullopt;
}

bool take_devices(std::string_view json, std::vector<model::Device>& devices) {
  const Json list = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) return false;
  for (const Json& entry : list) {
    if (!entry.is_object()) return false;
    model::Device device;
    device.ordinal =
        integer_or<std::int32_t>(entry, "id", static_cast<std::int32_t>(devices.size()));
    device.name = string_or_empty(entry, "name");
    device.total_memory_bytes = integer_or<std::int64_t>(entry, "totalGlobalMem", -1);
    device.compute_major = integer_or<std::int32_t>(entry, "computeMajor", -1);
    device.compute_minor = integer_or<std::int32_t>(entry, "computeMinor", -1);
    device.multiprocessors = integer_or<std::int32_t>(entry, "numSms", -1);
    devices.push_back(std::move(device));
  }
  return true;
}

bool take_distributed(std::string_view json, TraceMetadata& out) {
  const Json info = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!info.is_object()) return false;
  out.backend = string_or_empty(info, "backend");
  const auto rank = integer_or<std::int32_t>(info, "rank", -1);
  if (rank >= 0) out.rank = rank;
  const auto world = integer_or<std::int32_t>(info, "world_size", -1);
  if (world > 0) out.world_size = world;
  return true;
}

}  // namespace

bool TraceMetadata::wants(std::string_view key) {
  return std::find(kWanted.begin(), kWanted.end(), key) != kWanted.end();
}

void TraceMetadata::take(std::string_view key, std::string_view json) {
  if (key == "deviceProperties") {
    unreadable = !take_devices(json, devices) || unreadable;
  } else if (key == "distributedInfo") {
    unreadable = !take_distributed(json, *this) || unreadable;
  } else if (key == "host_name" || key == "hostname") {
    host = text_of(json);
  } else if (key == "traceName") {
    trace_name = text_of(json);
  } else if (key == "trace_id") {
    trace_id = text_of(json);
  } else if (key == "record_shapes") {
    record_shapes = flag_of(json);
  } else if (key == "with_stack") {
    with_stack = flag_of(json);
  } else if (key == "profile_memory") {
    profile_memory = flag_of(json);
  } else if (key == "cuda_runtime_version") {
    cuda_runtime_version = parse_integer(unquoted(json)).value_or(-1);
  } else if (key == "cuda_driver_version") {
    cuda_driver_version = parse_integer(unquoted(json)).value_or(-1);
  } else if (key == "baseTimeNanoseconds") {
    const auto base = parse_integer(unquoted(json));
    const bool fits = base && *base > -kMaxTimeNs && *base < kMaxTimeNs;
    if (fits) base_ns = *base;
    unreadable = unreadable || !fits;
  } else if (key.starts_with("hip_") || key.starts_with("roctracer")) {
    is_rocm = true;
  }
}

}  // namespace pyrometer::importers::kineto

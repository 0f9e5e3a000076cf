// What a trace says about itself outside its events.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/timeline.h"

namespace pyrometer::importers::kineto {

struct TraceMetadata {
  std::optional<std::int32_t> rank;
  std::int32_t world_size = -1;
  std::string backend;
  std::string host;
  std::string trace_name;
  std::string trace_id;
  std::optional<bool> record_shapes;
  std::optional<bool> with_stack;
  std::optional<bool> profile_memory;
  std::int64_t cuda_runtime_version = -1;
  std::int64_t cuda_driver_version = -1;
  bool is_rocm = false;
  std::int64_t base_ns = 0;  // added to every time
  std::vector<model::Device> devices;
  bool unreadable = false;  // a value that we need is not what it should be

  // Whether a top-level key is one that take() reads.
  [[nodiscard]] static bool wants(std::string_view key);
  // Reads the JSON text of the value of a key that wants() named.
  void take(std::string_view key, std::string_view json);
};

}  // namespace pyrometer::importers::kineto

// What the decoder gathers of one event before rows are made of it. Private to event_decoder.cpp
// and event_rows.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "importers/kineto/event_decoder.h"

namespace pyrometer::importers::kineto {

// The arguments that rows take. -1 and kNone: not given.
struct EventDecoder::Args {
  model::KernelConfig config;
  CommRow comm;
  std::uint64_t correlation = 0;
  std::int64_t bytes = std::numeric_limits<std::int64_t>::min();
  std::int64_t total_allocated = -1;
  std::int64_t total_reserved = -1;
  std::int64_t device = kAbsent;
  std::int64_t stream = kAbsent;
  std::int64_t device_type = kAbsent;
  std::uint32_t graph_node = 0;
  LocalId shapes = 0;
  LocalId dtypes = 0;
  LocalId name = 0;
  std::string_view copy_kind;
  bool has_config = false;
  bool has_comm = false;

  static constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();
};

struct EventDecoder::Event {
  Token token = nullptr;  // its `{`
  Token pid = nullptr;
  Token tid = nullptr;
  Token args_token = nullptr;  // met before category and name were known
  std::int64_t time = 0;
  std::int64_t duration = 0;
  LocalId name = 0;
  Category category = Category::kNone;
  char phase = '\0';
  bool has_name = false;
  bool has_time = false;
  bool has_duration = false;
  bool time_unreadable = false;
  Args args;
};

}  // namespace pyrometer::importers::kineto

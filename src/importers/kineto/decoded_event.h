// What the decoder gathers of one event before rows are made of it. Private to event_decoder.cpp
// and event_rows.cpp.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>

#include "importers/kineto/event_decoder.h"

namespace pyrometer::importers::kineto {

// Arguments that few kinds of events have. -1: not given.
struct EventDecoder::Extras {
  model::KernelConfig config;
  CommRow comm;
  std::int64_t total_allocated = -1;
  std::int64_t total_reserved = -1;
  std::int64_t device_type = -1;
  std::uint32_t graph_node = 0;
  LocalId name = 0;
  std::string_view copy_kind;
  bool has_config = false;
  bool has_comm = false;
};

// Small, because it is made anew for every event.
struct EventDecoder::Event {
  static constexpr std::int64_t kAbsent = std::numeric_limits<std::int64_t>::min();

  Token token = nullptr;  // its `{`
  Token pid = nullptr;
  Token tid = nullptr;
  Token args_token = nullptr;  // met before category and name were known
  std::int64_t time = 0;
  std::int64_t duration = 0;
  std::uint64_t correlation = 0;
  std::int64_t device = kAbsent;
  std::int64_t stream = kAbsent;
  std::int64_t bytes = kAbsent;
  LocalId name = 0;
  LocalId shapes = 0;
  LocalId dtypes = 0;
  Category category = Category::kNone;
  char phase = '\0';
  bool has_name = false;
  bool has_time = false;
  bool has_duration = false;
  bool has_extras = false;  // EventDecoder::extras_ is this event's
};

}  // namespace pyrometer::importers::kineto

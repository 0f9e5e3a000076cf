#include "importers/kineto/event_decoder.h"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "importers/kineto/decoded_event.h"
#include "importers/kineto/keys.h"
#include "importers/kineto/numbers.h"

namespace pyrometer::importers::kineto {

namespace {

// A number, also one in quotes.
std::string_view number_text(const char* base, Token t) {
  return base[*t] == '"' ? string_at(base, t) : scalar_at(base, t);
}

bool is_number_start(char c) { return is_digit(c) || c == '-' || c == '"' || c == '+' || c == '.'; }

bool decode_time(const char* base, Token t, std::int64_t& ns) {
  const char* end = read_microseconds(base + *t, ns);
  if (end != nullptr && ends_scalar(*end)) return true;
  if (!is_number_start(base[*t])) return false;
  const auto value = parse_microseconds(number_text(base, t));
  if (value) ns = *value;
  return value.has_value();
}

void decode_unsigned(const char* base, Token t, std::uint64_t& out) {
  const char* end = read_unsigned(base + *t, out);
  if (end != nullptr && ends_scalar(*end)) return;
  out = parse_unsigned(number_text(base, t)).value_or(0);
}

template <typename Int>
void decode_integer(const char* base, Token t, Int& out) {
  std::uint64_t small = 0;
  const char* end = read_unsigned(base + *t, small);
  const auto max = static_cast<std::uint64_t>(std::numeric_limits<Int>::max());
  if (end != nullptr && ends_scalar(*end) && small <= max) {
    out = static_cast<Int>(small);
    return;
  }
  const auto parsed = parse_integer(number_text(base, t));
  if (!parsed) return;
  out = static_cast<Int>(std::clamp<std::int64_t>(*parsed, std::numeric_limits<Int>::min(),
                                                  std::numeric_limits<Int>::max()));
}

void decode_float(const char* base, Token t, float& out) {
  std::uint64_t whole = 0;
  const char* end = read_unsigned(base + *t, whole);
  if (end != nullptr && ends_scalar(*end)) {
    out = static_cast<float>(whole);
    return;
  }
  const auto value = parse_double(number_text(base, t));
  if (value) out = static_cast<float>(*value);
}

// [x, y, z]; what is missing stays.
void decode_triple(const char* base, Token t, std::uint32_t (&out)[3]) {
  if (base[*t] != '[') return;
  ++t;
  for (std::uint32_t& value : out) {
    std::uint64_t number = 0;
    if (!is_number_start(base[*t])) return;
    decode_unsigned(base, t, number);
    value = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max()));
    if (base[t[1]] != ',') return;
    t += 2;
  }
}

bool is_flow(char phase) { return phase == 's' || phase == 'f' || phase == 't'; }

}  // namespace

EventDecoder::EventDecoder() : extras_(std::make_unique<Extras>()) {}
EventDecoder::~EventDecoder() = default;

Token EventDecoder::decode(const Chunk& chunk, Token t, ChunkRows& out) {
  chunk_ = chunk;
  out_ = &out;
  const char* base = chunk.base;
  Event event;
  event.token = t++;
  std::uint32_t seen = 0;
  bool duplicate = false;
  int stray_commas = 0;
  while (base[*t] != '}') {
    if (base[*t] == ',') {
      ++stray_commas;
      ++t;
      continue;
    }
    if (base[*t] != '"') return stop(t);
    if (base[t[1]] != ':') return stop(t + 1);
    const std::string_view key_text = string_at(base, t);
    if (key_text.data() == nullptr) return stop(t);
    const EventKey key = event_key(key_text);
    if (key != EventKey::kOther) {
      const std::uint32_t bit = 1U << static_cast<unsigned>(key);
      duplicate = duplicate || (seen & bit) != 0;
      seen |= bit;
    }
    const Token value = t + 2;
    t = decode_member(key, value, event);
    if (t == nullptr) return nullptr;
    if (is_flow(event.phase)) {
      // Flow arrows repeat what correlations tell and are four in ten events.
      const Token behind = skip_out(base, t, 1);
      if (behind == nullptr) return stop_at_nul(t);
      ++out.events;
      return behind;
    }
    if (base[*t] == ',') {
      ++t;
      if (base[*t] == '}') ++stray_commas;
    } else if (base[*t] != '}') {
      return stop(t);
    }
  }
  if (event.args_token != nullptr && base[*event.args_token] == '{') {
    if (decode_args(event.args_token, event) == nullptr) return nullptr;
  }
  ++out.events;
  if (stray_commas > 0) count(Mishap::kStrayComma, event, stray_commas);
  if (duplicate) count(Mishap::kDuplicateKey, event);
  emit(event);
  return t + 1;
}

// Takes the value of a key. Returns the token behind it, or stops.
inline Token EventDecoder::decode_member(EventKey key, Token value, Event& event) {
  const char* base = chunk_.base;
  switch (key) {
    case EventKey::kPhase:
      if (base[*value] != '"') return stop(value);
      event.phase = base[*value + 2] == '"' ? base[*value + 1] : '?';
      return value + 1;
    case EventKey::kCategory:
    case EventKey::kName: {
      if (base[*value] != '"') break;
      const std::string_view text = string_at(base, value);
      if (text.data() == nullptr) return stop(value);
      if (key == EventKey::kCategory) {
        event.category = category_of(text);
      } else {
        event.name = names_.intern(text);
        event.has_name = true;
      }
      return value + 1;
    }
    case EventKey::kPid:
      event.pid = value;
      break;
    case EventKey::kTid:
      event.tid = value;
      break;
    case EventKey::kTime:
      event.has_time = decode_time(base, value, event.time);
      break;
    case EventKey::kDuration:
      event.has_duration =
          decode_time(base, value, event.duration) && std::abs(event.duration) <= kMaxDurationNs;
      break;
    case EventKey::kArgs:
      event.args_token = nullptr;
      if (base[*value] == '{' && event.has_name && event.category != Category::kNone) {
        return decode_args(value, event);
      }
      event.args_token = value;  // for later, when it is known what they belong to
      break;
    case EventKey::kOther:
      break;
  }
  const Token next = skip_value(base, value);
  return next != nullptr ? next : stop_inside(value);
}

bool EventDecoder::wants_args(const Event& event) const {
  switch (event.category) {
    case Category::kCpuOp:
      return names_.traits(event.name).wants_shapes;
    case Category::kApi:
    case Category::kKernel:
    case Category::kMemcpy:
    case Category::kMemset:
    case Category::kSync:
      return true;
    default:
      // Thread names; and allocator events, which some versions give no category.
      return event.phase == 'M' || names_.traits(event.name).is_memory;
  }
}

// Decodes the object at `t`, whose owner is known by name and category, and returns the token
// behind it. Stops early where the rest cannot matter.
Token EventDecoder::decode_args(Token t, Event& event) {
  const char* base = chunk_.base;
  ++t;
  if (!wants_args(event)) {
    const Token behind = skip_out(base, t, 1);
    return behind != nullptr ? behind : stop_at_nul(t);
  }
  if (event.category != Category::kCpuOp && event.category != Category::kApi) {
    *extras_ = {};
    event.has_extras = true;
  }
  while (base[*t] != '}') {
    if (base[*t] == ',') {
      ++t;
      continue;
    }
    if (base[*t] != '"') return stop(t);
    if (base[t[1]] != ':') return stop(t + 1);
    const std::string_view key = string_at(base, t);
    if (key.data() == nullptr) return stop(t);
    const Token value = t + 2;
    const Token next = skip_value(base, value);
    if (next == nullptr) return stop_inside(value);
    decode_arg(arg_key(key), value, next, event);
    t = next;
    if (base[*t] == ',') {
      ++t;
    } else if (base[*t] != '}') {
      return stop(t);
    }
  }
  return t + 1;
}

void EventDecoder::decode_arg(ArgKey key, Token value, Token next, Event& event) {
  const char* base = chunk_.base;
  switch (key) {
    case ArgKey::kOther:
      break;
    case ArgKey::kCorrelation:
      decode_unsigned(base, value, event.correlation);
      break;
    case ArgKey::kDevice:
    case ArgKey::kDeviceId:
      decode_integer(base, value, event.device);
      break;
    case ArgKey::kStream:
      decode_integer(base, value, event.stream);
      break;
    case ArgKey::kBytes:
      decode_integer(base, value, event.bytes);
      break;
    case ArgKey::kInputDims:
      event.shapes = intern_value(value, next);
      break;
    case ArgKey::kInputType:
      event.dtypes = intern_value(value, next);
      break;
    default:
      if (event.has_extras) decode_extra(key, value, next);
  }
}

void EventDecoder::decode_extra(ArgKey key, Token value, Token next) {
  const char* base = chunk_.base;
  model::KernelConfig& config = extras_->config;
  CommRow& comm = extras_->comm;
  switch (key) {
    case ArgKey::kGrid:
      decode_triple(base, value, config.grid);
      extras_->has_config = true;
      break;
    case ArgKey::kBlock:
      decode_triple(base, value, config.block);
      extras_->has_config = true;
      break;
    case ArgKey::kRegisters:
      decode_integer(base, value, config.registers_per_thread);
      extras_->has_config = true;
      break;
    case ArgKey::kSharedMemory:
      decode_integer(base, value, config.shared_memory_bytes);
      extras_->has_config = true;
      break;
    case ArgKey::kBlocksPerSm:
      decode_float(base, value, config.blocks_per_sm);
      extras_->has_config = true;
      break;
    case ArgKey::kOccupancy:
      decode_float(base, value, config.occupancy_pct);
      extras_->has_config = true;
      break;
    case ArgKey::kGraphNode: {
      // CUPTI puts the graph's id into the upper half.
      std::uint64_t node = 0;
      decode_unsigned(base, value, node);
      extras_->graph_node = static_cast<std::uint32_t>(node);
      break;
    }
    case ArgKey::kCopyKind:
      if (base[*value] == '"') extras_->copy_kind = string_at(base, value);
      break;
    case ArgKey::kCollective:
      comm.collective = intern_string(value);
      extras_->has_comm = true;
      break;
    case ArgKey::kDtype:
      comm.dtype = intern_string(value);
      break;
    case ArgKey::kGroupName:
      comm.process_group = intern_string(value);
      extras_->has_comm = true;
      break;
    case ArgKey::kGroupRanks:
      comm.group_ranks = intern_value(value, next);
      break;
    case ArgKey::kInElements:
      decode_integer(base, value, comm.in_elements);
      break;
    case ArgKey::kOutElements:
      decode_integer(base, value, comm.out_elements);
      break;
    case ArgKey::kGroupSize:
      decode_integer(base, value, comm.group_size);
      break;
    case ArgKey::kSequence:
      decode_integer(base, value, comm.sequence);
      break;
    case ArgKey::kTotalAllocated:
      decode_integer(base, value, extras_->total_allocated);
      break;
    case ArgKey::kTotalReserved:
      decode_integer(base, value, extras_->total_reserved);
      break;
    case ArgKey::kDeviceType:
      decode_integer(base, value, extras_->device_type);
      break;
    case ArgKey::kName:
      extras_->name = intern_string(value);
      break;
    default:
      break;
  }
}

// A value at `t` has no end: because no value begins there, or because the tokens end inside it.
Token EventDecoder::stop_inside(Token t) {
  const char first = chunk_.base[*t];
  if (first == ',' || first == ':' || first == '}' || first == ']') return stop(t);
  return stop_at_nul(t);
}

Token EventDecoder::stop_at_nul(Token t) {
  while (chunk_.base[*t] != '\0') ++t;
  return stop(t);
}

LocalId EventDecoder::intern_string(Token value) {
  const char* base = chunk_.base;
  return names_.intern(base[*value] == '"' ? string_at(base, value) : scalar_at(base, value));
}

// A container as written, a string without its quotes.
LocalId EventDecoder::intern_value(Token value, Token next) {
  const char* base = chunk_.base;
  const char first = base[*value];
  if (first != '[' && first != '{') return intern_string(value);
  return names_.intern({base + *value, next[-1] - *value + std::size_t{1}});
}

}  // namespace pyrometer::importers::kineto

// Rows out of decoded events: the second half of EventDecoder.
#include <algorithm>
#include <limits>

#include "importers/kineto/decoded_event.h"
#include "importers/kineto/event_decoder.h"
#include "importers/kineto/numbers.h"

namespace pyrometer::importers::kineto {
namespace {

using model::ActivityKind;
using model::CopyKind;

// Devices of one host; beyond it a pid is a process, not a device number.
constexpr std::int64_t kMaxDeviceNumber = 4096;

std::int32_t to_int32(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(
      value, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

// The bytes of a pid or tid: a number, or a string without its quotes; empty when not given.
std::string_view id_text(const char* base, Token t) {
  if (t == nullptr) return {};
  return base[*t] == '"' ? string_at(base, t) : scalar_at(base, t);
}

// A plain number, also one in quotes.
bool id_number(std::string_view text, std::int64_t& value) {
  if (text.empty() || text.size() > 18) return false;
  const bool negative = text[0] == '-';
  const std::string_view digits = text.substr(negative);
  std::int64_t v = 0;
  for (const char c : digits) {
    if (!is_digit(c)) return false;
    v = v * 10 + (c - '0');
  }
  value = negative ? -v : v;
  return !digits.empty();
}

// A plain number without quotes or sign, as nearly all ids are.
bool small_number(const char* base, Token t, std::uint64_t& value) {
  if (t == nullptr) return false;
  const char* end = read_unsigned(base + *t, value);
  return end != nullptr && ends_scalar(*end) && value < (std::uint64_t{1} << 62);
}

// "stream 7", as the traces of 2021 name their device rows.
bool trailing_number(std::string_view text, std::int64_t& value) {
  std::size_t first = text.size();
  while (first > 0 && is_digit(text[first - 1])) --first;
  return id_number(text.substr(first), value);
}

}  // namespace

std::int64_t EventDecoder::offset_of(const Event& event) const {
  return chunk_.offset + static_cast<std::int64_t>(*event.token);
}

void EventDecoder::count(Mishap what, const Event& event, std::int64_t times) {
  out_->mishaps.add(what, offset_of(event), times);
}

void EventDecoder::emit(const Event& event) {
  const TextFlaws& flaws = names_.traits(event.name).flaws;
  if (flaws.any()) {
    if (flaws.invalid_utf8) count(Mishap::kInvalidUtf8, event);
    if (flaws.invalid_escape) count(Mishap::kInvalidEscape, event);
    if (flaws.control_characters) count(Mishap::kControlCharacters, event);
  }
  // No kind but 'X' has a duration: with another letter, the letter is damaged.
  if (event.phase != 'X' && event.phase != '\0' && event.has_time && event.has_duration) {
    return count(Mishap::kDamagedEvent, event);
  }
  switch (event.phase) {
    case 'X':
      emit_complete(event);
      break;
    case 'B':
    case 'E':
      emit_half(event);
      break;
    case 'M':
      emit_metadata(event);
      break;
    case 'i':
    case 'I':
    case 'R':
      if (names_.traits(event.name).is_memory) emit_memory(event);
      break;
    case 'C':  // counter samples, async and object events of other recorders
    case 'b':
    case 'n':
    case 'e':
    case 'S':
    case 'T':
    case 'p':
    case 'F':
    case 'N':
    case 'O':
    case 'D':
    case 'P':
    case 'c':
      break;
    case '\0':
      count(Mishap::kMissingPhase, event);
      break;
    default:
      count(Mishap::kUnknownPhase, event);
  }
}

void EventDecoder::emit_complete(const Event& event) {
  if (event.category == Category::kNotNeeded) return;
  if (!event.has_time) return count(Mishap::kMissingTime, event);
  if (!event.has_duration) return count(Mishap::kMissingDuration, event);
  if (!event.has_name) return count(Mishap::kMissingName, event);
  std::int64_t end = event.time + event.duration;
  if (event.duration < 0) {
    count(Mishap::kNegativeDuration, event);
    end = event.time;
  }
  switch (event.category) {
    case Category::kCpuOp:
      if (names_.traits(event.name).is_range) {
        out_->annotations.push_back(host_row(event, end));
        break;
      }
      out_->host_ops.push_back(host_row(event, end));
      out_->host_ops.back().shapes = event.shapes;
      out_->host_ops.back().dtypes = event.dtypes;
      break;
    case Category::kApi:
      out_->api_calls.push_back(host_row(event, end));
      out_->api_calls.back().correlation = event.correlation;
      out_->hip_names = out_->hip_names || names_.traits(event.name).is_hip;
      break;
    case Category::kKernel:
      emit_activity(event, ActivityKind::kKernel, end);
      break;
    case Category::kMemcpy:
      emit_activity(event, ActivityKind::kCopy, end);
      break;
    case Category::kMemset:
      emit_activity(event, ActivityKind::kMemset, end);
      break;
    case Category::kAnnotation:
      out_->annotations.push_back(host_row(event, end));
      break;
    case Category::kPython:
      out_->python.push_back(host_row(event, end));
      break;
    case Category::kOverhead:
      out_->overhead.push_back(host_row(event, end));
      break;
    case Category::kSync:
      emit_sync(event, end);
      break;
    case Category::kTrace:
      out_->spans.push_back({event.time, end});
      break;
    case Category::kNone:
      count(Mishap::kMissingCategory, event);
      break;
    case Category::kUnknown:
      count(Mishap::kUnknownCategory, event);
      break;
    case Category::kInstant:
    case Category::kNotNeeded:
      break;
  }
}

void EventDecoder::emit_half(const Event& event) {
  if (!event.has_time) return count(Mishap::kMissingTime, event);
  HalfRow half;
  half.row = host_row(event, event.time);
  half.row.correlation = event.correlation;
  half.row.shapes = event.shapes;
  half.row.dtypes = event.dtypes;
  half.offset = offset_of(event);
  half.category = event.category;
  half.begins = event.phase == 'B';
  out_->halves.push_back(half);
}

void EventDecoder::emit_metadata(const Event& event) {
  if (names_.text(event.name) != "thread_name" || !event.has_extras) return;
  if (extras_->name != 0) out_->thread_names.push_back({thread_of(event), extras_->name});
}

void EventDecoder::emit_memory(const Event& event) {
  if (!event.has_time) return count(Mishap::kMissingTime, event);
  if (event.bytes == Event::kAbsent || !event.has_extras) return;
  MemoryRow row;
  row.time = event.time;
  row.bytes = event.bytes;
  row.total_allocated = extras_->total_allocated;
  row.total_reserved = extras_->total_reserved;
  // c10::DeviceType 0 is the CPU. Traces before 2021-09 have no type, and -1 as the CPU's id.
  const bool host = extras_->device_type == 0 || event.device < 0;
  if (!host && event.device <= kMaxDeviceNumber) {
    row.device = static_cast<std::int16_t>(event.device);
  }
  out_->memory.push_back(row);
}

void EventDecoder::emit_activity(const Event& event, ActivityKind kind, std::int64_t end) {
  ActivityRow row;
  row.start = event.time;
  row.end = end;
  row.correlation = event.correlation;
  row.name = event.name;
  row.kind = kind;
  place_on_device(event, row.device, row.stream);
  if (event.has_extras) {
    row.graph_node = extras_->graph_node;
    if (kind == ActivityKind::kKernel && extras_->has_config) {
      row.config = configs_.intern(extras_->config);
    }
    if (kind == ActivityKind::kKernel && extras_->has_comm) {
      row.comm = static_cast<std::uint32_t>(out_->comms.size());
      out_->comms.push_back(extras_->comm);
    }
  }
  if (kind != ActivityKind::kKernel) {
    if (event.bytes >= 0) row.bytes = event.bytes;
    row.copy = CopyKind::kD2D;
    if (kind == ActivityKind::kCopy) {
      row.copy = names_.traits(event.name).copy;
      row.host = names_.traits(event.name).host;
      if (row.copy == CopyKind::kUnknown && event.has_extras) {
        classify_copy(extras_->copy_kind, row.copy, row.host);
      }
    }
  }
  out_->activities.push_back(row);
}

void EventDecoder::emit_sync(const Event& event, std::int64_t end) {
  SyncRow row;
  row.start = event.time;
  row.end = end;
  row.correlation = event.correlation;
  row.name = event.name;
  place_on_device(event, row.device, row.stream);
  out_->syncs.push_back(row);
}

HostRow EventDecoder::host_row(const Event& event, std::int64_t end) {
  HostRow row;
  row.start = event.time;
  row.end = end;
  row.name = event.name;
  row.thread = thread_of(event);
  return row;
}

LocalId EventDecoder::thread_of(const Event& event) {
  std::uint64_t small_pid = 0;
  std::uint64_t small_tid = 0;
  if (small_number(chunk_.base, event.pid, small_pid) &&
      small_number(chunk_.base, event.tid, small_tid)) {
    return threads_.intern(static_cast<std::int64_t>(small_pid),
                           static_cast<std::int64_t>(small_tid));
  }
  const std::string_view pid_text = id_text(chunk_.base, event.pid);
  const std::string_view tid_text = id_text(chunk_.base, event.tid);
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  const bool has_pid = id_number(pid_text, pid);
  if (has_pid && id_number(tid_text, tid)) return threads_.intern(pid, tid);
  TextFlaws ignored;
  std::string name = readable_text(tid_text, ignored);
  // A process known by name only: the name goes into the thread's.
  if (!has_pid && !pid_text.empty()) name = readable_text(pid_text, ignored) + " " + name;
  return threads_.intern(pid, name);
}

void EventDecoder::place_on_device(const Event& event, std::int32_t& device, std::int32_t& stream) {
  // CUPTI's "no stream" and "no device", an unsigned -1.
  constexpr std::int64_t kUnsignedMinusOne = std::numeric_limits<std::uint32_t>::max();
  std::int64_t number = event.device;
  if (number == Event::kAbsent) {
    const bool known = id_number(id_text(chunk_.base, event.pid), number) && number >= 0 &&
                       number < kMaxDeviceNumber;
    if (!known) {
      number = 0;
      count(Mishap::kNoDevice, event);
    }
  }
  device = to_int32(number);
  number = event.stream;
  if (number == Event::kAbsent && !trailing_number(id_text(chunk_.base, event.tid), number)) {
    number = 0;
  }
  stream = number == kUnsignedMinusOne ? -1 : to_int32(number);
}

void EventDecoder::finish_chunk(ChunkRows& out) {
  names_.take_new(out.new_names);
  threads_.take_new(out.new_threads);
  configs_.take_new(out.new_configs);
}

}  // namespace pyrometer::importers::kineto

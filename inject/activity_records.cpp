#include "activity_records.h"

namespace pyrometer::inject {
namespace {

using ring::ActivityBody;
using ring::RecordType;

std::uint8_t kinds(std::uint32_t source, std::uint32_t destination) {
  return static_cast<std::uint8_t>((source & 15U) | (destination & 15U) << 4);
}

// Without times (no device memory for them) a record says nothing: it counts as lost.
void put(const RecordContext& context, RecordType type, const ActivityBody& body) {
  if (body.start == 0 || body.end == 0) {
    context.losses.add(type, 1);
  } else {
    context.writer.write(type, 0, body);
  }
}

// What all device activities share.
template <typename Record>
ActivityBody common(const RecordContext& context, const Record& record) {
  return {.start = context.clock.to_monotonic(record.start),
          .end = context.clock.to_monotonic(record.end),
          .correlation = record.correlation,
          .stream = record.stream,
          .device = static_cast<std::uint16_t>(record.device),
          .graph = record.graph,
          .context = record.context};
}

void put_kernel(const RecordContext& context, const cupti::Kernel& kernel) {
  ActivityBody body = common(context, kernel);
  if (body.start != 0 && body.end != 0) {
    ring::KernelConfigBody config{};
    for (int axis = 0; axis < 3; ++axis) {
      config.grid[axis] = static_cast<std::uint32_t>(kernel.grid[axis]);
      config.block[axis] = static_cast<std::uint32_t>(kernel.block[axis]);
    }
    config.static_shared_bytes = static_cast<std::uint32_t>(kernel.static_shared_memory);
    config.dynamic_shared_bytes = static_cast<std::uint32_t>(kernel.dynamic_shared_memory);
    config.registers_per_thread = kernel.registers_per_thread;
    body.kernel.name = kernel.name == nullptr ? 0 : context.writer.intern_name(kernel.name);
    body.kernel.config = context.writer.intern_config(config);
  }
  put(context, RecordType::kKernel, body);
}

// Memcpy or MemcpyPeer.
template <typename Record>
void put_copy(const RecordContext& context, const Record& copy) {
  ActivityBody body = common(context, copy);
  body.copy_kind = copy.copy_kind;
  body.memory_kinds = kinds(copy.source_kind, copy.destination_kind);
  body.bytes = copy.bytes;
  put(context, RecordType::kCopy, body);
}

void put_memset(const RecordContext& context, const cupti::Memset& set) {
  ActivityBody body = common(context, set);
  body.memory_kinds = kinds(0, set.memory_kind);
  body.bytes = set.bytes;
  put(context, RecordType::kMemset, body);
}

void put_call(const RecordContext& context, const cupti::ApiCall& call) {
  const std::string_view name = context.calls.name(call.kind == cupti::kDriver, call.cbid);
  if (name.empty()) {
    return;  // one that nobody asked for
  }
  if (call.start == 0 || call.end == 0) {
    context.losses.add(RecordType::kApiCall, 1);
    return;
  }
  const ring::ApiCallBody body{.start = context.clock.to_monotonic(call.start),
                               .end = context.clock.to_monotonic(call.end),
                               .correlation = call.correlation,
                               .name = context.writer.intern_name(name),
                               .result = call.result};
  context.writer.write(RecordType::kApiCall, call.thread, body);
}

void put_activity(const RecordContext& context, const cupti::Activity& record) {
  switch (record.kind) {
    case cupti::kConcurrentKernel:
      return put_kernel(context, reinterpret_cast<const cupti::Kernel&>(record));
    case cupti::kMemcpy:
      return put_copy(context, reinterpret_cast<const cupti::Memcpy&>(record));
    case cupti::kMemcpy2:
      return put_copy(context, reinterpret_cast<const cupti::MemcpyPeer&>(record));
    case cupti::kMemset:
      return put_memset(context, reinterpret_cast<const cupti::Memset&>(record));
    case cupti::kRuntime:
    case cupti::kDriver:
      return put_call(context, reinterpret_cast<const cupti::ApiCall&>(record));
    default:
      return;
  }
}

}  // namespace

void Losses::report(ring::Writer& writer) {
  for (std::uint32_t type = 0; type < ring::kRecordTypes; ++type) {
    if (counts_[type].load(std::memory_order_relaxed) == 0 || !writer.has_room()) {
      continue;
    }
    const std::uint64_t count = counts_[type].exchange(0, std::memory_order_relaxed);
    const ring::LossBody body{.time = ring::monotonic_ns(), .count = count, .type = type};
    if (!writer.write(RecordType::kLoss, 0, body)) {
      add(static_cast<RecordType>(type), count);
    }
  }
}

void write_activities(const RecordContext& context, std::uint8_t* buffer, std::size_t valid) {
  cupti::Activity* record = nullptr;
  while (context.api.get_next_record(buffer, valid, &record) == cupti::kSuccess) {
    put_activity(context, *record);
  }
}

}  // namespace pyrometer::inject

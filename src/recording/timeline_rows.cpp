#include "recording/timeline_rows.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "model/timeline_builder.h"
#include "recording/correlation_set.h"

namespace pyrometer::recording {
namespace {

using model::CopyKind;
using model::HostMemory;
using model::TimeNs;

CopyKind copy_kind(std::uint8_t cupti) {  // CUpti_ActivityMemcpyKind
  switch (cupti) {
    case 1:  // host to device
    case 3:  // host to array
      return CopyKind::kH2D;
    case 2:  // device to host
    case 4:  // array to host
      return CopyKind::kD2H;
    case 5:
    case 6:
    case 7:
    case 8:  // device and arrays
      return CopyKind::kD2D;
    case 9:
      return CopyKind::kH2H;
    case 10:
      return CopyKind::kP2P;
    default:
      return CopyKind::kUnknown;
  }
}

// CUpti_ActivityMemoryKind: 1 pageable, 2 pinned, of the side that is the host's.
HostMemory host_memory(CopyKind kind, std::uint8_t kinds) {
  const unsigned side = kind == CopyKind::kD2H ? kinds >> 4U : kinds & 15U;
  if (kind != CopyKind::kH2D && kind != CopyKind::kD2H) return HostMemory::kUnknown;
  if (side == 1) return HostMemory::kPageable;
  return side == 2 ? HostMemory::kPinned : HostMemory::kUnknown;
}

// As the profiler of PyTorch names such copies and sets.
std::string_view copy_name(CopyKind kind, HostMemory host) {
  const bool pageable = host == HostMemory::kPageable;
  switch (kind) {
    case CopyKind::kH2D:
      return pageable ? "Memcpy HtoD (Pageable -> Device)" : "Memcpy HtoD (Pinned -> Device)";
    case CopyKind::kD2H:
      return pageable ? "Memcpy DtoH (Device -> Pageable)" : "Memcpy DtoH (Device -> Pinned)";
    case CopyKind::kD2D:
      return "Memcpy DtoD (Device -> Device)";
    case CopyKind::kP2P:
      return "Memcpy PtoP (Device -> Device)";
    default:
      return "Memcpy";
  }
}

// "item train.py:58" as Python frames are written in traces: "train.py(58): item".
std::string frame_name(std::string_view text) {
  const std::size_t space = text.find(' ');
  const std::size_t colon = text.rfind(':');
  if (space == text.npos || colon == text.npos || colon < space) return std::string(text);
  return fmt::format("{}({}): {}", text.substr(space + 1, colon - space - 1),
                     text.substr(colon + 1), text.substr(0, space));
}

class Assembler {
 public:
  Assembler(const TimelineInput& in, const TimeMap& map)
      : in_(in), map_(map), name_ids_(in.names.size(), kUnmapped) {}

  model::RankTimeline run() {
    add_devices();
    add_activities();
    add_calls();
    for (const RangeRow& row : in_.rows.ranges) add_range(row);
    return builder_.finish();
  }

 private:
  static constexpr model::NameId kUnmapped = 0xFFFFFFFFU;

  model::NameId name(NameId id) {
    if (id >= name_ids_.size()) return 0;
    model::NameId& mapped = name_ids_[id];
    if (mapped == kUnmapped) mapped = builder_.timeline().names.intern(in_.names.text(id));
    return mapped;
  }
  model::NameId text(std::string_view text) { return builder_.timeline().names.intern(text); }

  model::ThreadId thread(std::uint32_t tid) {
    if (tid == last_tid_) return last_thread_;
    last_thread_ = builder_.thread(in_.process.pid, std::to_string(tid));
    last_tid_ = tid;
    return last_thread_;
  }

  void add_devices() {
    for (const DeviceRow& row : in_.devices) {
      model::Device& device = builder_.timeline().devices[builder_.device(row.ordinal)];
      device.name = row.name;
      device.total_memory_bytes = row.total_memory_bytes;
      device.compute_major = row.compute_major;
      device.compute_minor = row.compute_minor;
      device.multiprocessors = row.multiprocessors;
      multiprocessors_[row.ordinal] = row.multiprocessors;
    }
  }

  model::Index config_row(std::uint32_t id, std::int32_t device) {
    if (id == 0) return model::kNone;
    const auto key = std::make_pair(id, device);
    if (key == last_config_key_) return last_config_;
    last_config_key_ = key;
    const std::uint64_t packed = (std::uint64_t{id} << 32U) | static_cast<std::uint32_t>(device);
    const auto found = config_rows_.find(packed);
    if (found != config_rows_.end()) return last_config_ = found->second;
    const auto config = in_.configs.find(id);
    if (config == in_.configs.end()) return last_config_ = model::kNone;
    model::KernelConfig row;
    double blocks = 1;
    for (std::size_t i = 0; i < 3; ++i) {
      row.grid[i] = config->second.grid[i];
      row.block[i] = config->second.block[i];
      blocks *= row.grid[i];
    }
    row.registers_per_thread = config->second.registers_per_thread;
    row.shared_memory_bytes = static_cast<std::int32_t>(config->second.static_shared_bytes +
                                                        config->second.dynamic_shared_bytes);
    const auto sms = multiprocessors_.find(device);
    if (sms != multiprocessors_.end() && sms->second > 0) {
      row.blocks_per_sm = static_cast<float>(blocks / sms->second);
    }
    auto& table = builder_.timeline().kernel_configs;
    table.push_back(row);
    last_config_ = static_cast<model::Index>(table.size() - 1);
    config_rows_.emplace(packed, last_config_);
    return last_config_;
  }

  void add_activities() {
    for (const ActivityRow& row : in_.rows.activities) {
      const TimeNs start = map_.map(row.start);
      const TimeNs end = map_.map(row.end);
      // Outside the windows nothing is kept; what has no length by itself stays.
      if (end <= start && (row.end > row.start || !map_.keeps(row.start))) continue;
      kept_.add(row.correlation);
      const model::DeviceId device = builder_.device(row.device);
      const auto stream = static_cast<std::int32_t>(row.stream);
      if (row.type == ActivityType::kKernel) {
        builder_.add_activity(model::ActivityKind::kKernel, start, end, name(row.name), device,
                              stream, row.correlation, CopyKind::kNotCopy, HostMemory::kUnknown,
                              config_row(row.config, row.device), model::kNone, row.graph);
        continue;
      }
      const bool is_copy = row.type == ActivityType::kCopy;
      const CopyKind kind = is_copy ? copy_kind(row.copy_kind) : CopyKind::kD2D;
      const HostMemory host = is_copy ? host_memory(kind, row.memory_kinds) : HostMemory::kUnknown;
      auto& bytes = builder_.timeline().copy_bytes;
      bytes.push_back(static_cast<std::int64_t>(row.bytes));
      builder_.add_activity(is_copy ? model::ActivityKind::kCopy : model::ActivityKind::kMemset,
                            start, end, text(is_copy ? copy_name(kind, host) : "Memset (Device)"),
                            device, stream, row.correlation, kind, host,
                            static_cast<model::Index>(bytes.size() - 1), model::kNone, row.graph);
    }
  }

  void add_calls() {
    for (const ApiCallRow& row : in_.rows.api_calls) {
      const TimeNs start = map_.map(row.start);
      const TimeNs end = map_.map(row.end);
      const bool outside = !map_.keeps(row.start) && end <= start;
      if (outside && !kept_.contains(row.correlation)) continue;
      builder_.add_api_call(start, end, name(row.name), thread(row.thread), row.correlation);
    }
  }

  void annotate(const RangeRow& row, std::string_view label) {
    builder_.add_annotation(map_.map(row.start), map_.map(row.end), text(label),
                            thread(row.thread));
  }

  // Batches come in turn: while the next one is still with its worker, so are all others of that
  // worker, and no more are ready than the other workers can have in hand.
  std::string_view wait_name(const RangeRow& row) const {
    if (row.b <= 0) return "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";
    if (row.a > (row.b - 1) * in_.prefetch) {
      return "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ (batch ready)";
    }
    if ((row.flags & kUnpinnedFlag) != 0) {
      return "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__ (batch not pinned)";
    }
    return "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
  }

  void add_range(const RangeRow& row) {
    if (map_.map(row.end) <= map_.map(row.start)) return;
    const std::string_view given = in_.names.text(row.name);
    switch (row.type) {
      case RangeType::kStep:
        annotate(row, fmt::format("ProfilerStep#{}", row.a));
        break;
      case RangeType::kInput:
        annotate(row, wait_name(row));
        break;
      case RangeType::kOptimizer:
        annotate(row, fmt::format("Optimizer.step#{}.step", given));
        annotate(row, "pyrometer.issue#optimizer");
        break;
      case RangeType::kZeroGrad:
        annotate(row, fmt::format("Optimizer.zero_grad#{}.zero_grad", given));
        break;
      case RangeType::kForward:
        annotate(row, fmt::format("pyrometer.issue#forward {}", given));
        break;
      case RangeType::kBackward:
        annotate(row, "pyrometer.issue#backward");
        break;
      case RangeType::kCheckpoint:
        annotate(row, fmt::format("checkpoint: {}", given));
        break;
      case RangeType::kValidation:
        annotate(row, "validation");
        break;
      case RangeType::kCompile:
        annotate(row, fmt::format("_compile.{}", given));
        break;
      case RangeType::kGc:
        annotate(row, "gc.collect");
        break;
      case RangeType::kLogging:
        annotate(row, fmt::format("logging: {}", given));
        break;
      case RangeType::kLoaderStart:
        annotate(row, row.b > 0 ? "pyrometer.loader_start#workers" : "pyrometer.loader_start#main");
        break;
      case RangeType::kSyncCall:
        builder_.add_python(map_.map(row.start), map_.map(row.end), text(frame_name(given)),
                            thread(row.thread));
        break;
      case RangeType::kUser:
        annotate(row, given);
        break;
      case RangeType::kEpoch:  // holds all else: of no use as an annotation
      case RangeType::kProfiler:
        break;
    }
  }

  const TimelineInput& in_;
  const TimeMap& map_;
  model::TimelineBuilder builder_;
  std::vector<model::NameId> name_ids_;
  std::unordered_map<std::uint64_t, model::Index> config_rows_;
  std::unordered_map<std::int32_t, std::int32_t> multiprocessors_;
  CorrelationSet kept_;  // correlations of kept activities
  std::pair<std::uint32_t, std::int32_t> last_config_key_{0, -1};
  model::Index last_config_ = model::kNone;
  std::optional<std::uint32_t> last_tid_;
  model::ThreadId last_thread_ = 0;
};

}  // namespace

model::RankTimeline make_timeline(const TimelineInput& input, const TimeMap& map) {
  return Assembler(input, map).run();
}

}  // namespace pyrometer::recording

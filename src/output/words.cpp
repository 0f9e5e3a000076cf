#include "output/words.h"

namespace pyrometer::output {

Word word_for(model::Severity severity) {
  switch (severity) {
    case model::Severity::kInfo:
      return {"info", "info"};
    case model::Severity::kWarning:
      return {"warning", "warning"};
    case model::Severity::kCritical:
      return {"critical", "critical"};
  }
  return {};
}

Word word_for(model::Confidence confidence) {
  switch (confidence) {
    case model::Confidence::kLow:
      return {"low", "low"};
    case model::Confidence::kMedium:
      return {"medium", "medium"};
    case model::Confidence::kHigh:
      return {"high", "high"};
  }
  return {};
}

Word word_for(model::CauseGroup group) {
  switch (group) {
    case model::CauseGroup::kCompute:
      return {"compute", "compute"};
    case model::CauseGroup::kComm:
      return {"comm", "communication"};
    case model::CauseGroup::kCopy:
      return {"copy", "copies"};
    case model::CauseGroup::kIdle:
      return {"idle", "idle"};
    case model::CauseGroup::kUnattributed:
      return {"unattributed", "unattributed"};
  }
  return {};
}

Word word_for(model::KernelClass klass) {
  switch (klass) {
    case model::KernelClass::kOther:
      return {"other", "other"};
    case model::KernelClass::kGemm:
      return {"gemm", "matrix product"};
    case model::KernelClass::kConv:
      return {"conv", "convolution"};
    case model::KernelClass::kAttention:
      return {"attention", "attention"};
    case model::KernelClass::kElementwise:
      return {"elementwise", "elementwise"};
    case model::KernelClass::kReduction:
      return {"reduction", "reduction"};
    case model::KernelClass::kNorm:
      return {"norm", "normalisation, softmax"};
    case model::KernelClass::kOptimizer:
      return {"optimizer", "optimizer"};
    case model::KernelClass::kIndexing:
      return {"indexing", "indexing, sorting"};
    case model::KernelClass::kCopyKernel:
      return {"copy_kernel", "copies by a kernel"};
    case model::KernelClass::kLayout:
      return {"layout", "layout conversion"};
    case model::KernelClass::kRandom:
      return {"random", "random numbers"};
    case model::KernelClass::kComm:
      return {"comm", "communication"};
  }
  return {};
}

Word word_for(model::MatrixUnits units) {
  switch (units) {
    case model::MatrixUnits::kUnknown:
      return {"unknown", "?"};
    case model::MatrixUnits::kYes:
      return {"yes", "yes"};
    case model::MatrixUnits::kNo:
      return {"no", "no"};
  }
  return {};
}

Word word_for(model::MathType math) {
  switch (math) {
    case model::MathType::kUnknown:
      return {"unknown", "?"};
    case model::MathType::kFp64:
      return {"fp64", "FP64"};
    case model::MathType::kFp32:
      return {"fp32", "FP32"};
    case model::MathType::kTf32:
      return {"tf32", "TF32"};
    case model::MathType::kFp16:
      return {"fp16", "FP16"};
    case model::MathType::kBf16:
      return {"bf16", "BF16"};
    case model::MathType::kHalf:
      return {"half", "16-bit floating point"};
    case model::MathType::kFp8:
      return {"fp8", "FP8"};
    case model::MathType::kFp4:
      return {"fp4", "FP4"};
    case model::MathType::kInt8:
      return {"int8", "INT8"};
  }
  return {};
}

Word word_for(model::ApiClass klass) {
  switch (klass) {
    case model::ApiClass::kOther:
      return {"other", "other"};
    case model::ApiClass::kKernelLaunch:
      return {"kernel_launch", "kernel launch"};
    case model::ApiClass::kGraphLaunch:
      return {"graph_launch", "graph launch"};
    case model::ApiClass::kCopyAsync:
      return {"copy_async", "asynchronous copy"};
    case model::ApiClass::kCopyBlocking:
      return {"copy_blocking", "blocking copy"};
    case model::ApiClass::kMemset:
      return {"memset", "memset"};
    case model::ApiClass::kStreamSync:
      return {"stream_sync", "stream synchronisation"};
    case model::ApiClass::kDeviceSync:
      return {"device_sync", "device synchronisation"};
    case model::ApiClass::kEventSync:
      return {"event_sync", "event synchronisation"};
    case model::ApiClass::kAlloc:
      return {"alloc", "device allocation"};
    case model::ApiClass::kFree:
      return {"free", "device free"};
    case model::ApiClass::kHostAlloc:
      return {"host_alloc", "host allocation"};
    case model::ApiClass::kEventRecord:
      return {"event_record", "event record"};
    case model::ApiClass::kStreamWaitEvent:
      return {"stream_wait_event", "stream waits for event"};
    case model::ApiClass::kModuleLoad:
      return {"module_load", "module load"};
    case model::ApiClass::kQuery:
      return {"query", "query"};
  }
  return {};
}

Word word_for(model::Collective collective) {
  switch (collective) {
    case model::Collective::kUnknown:
      return {"unknown", "unknown"};
    case model::Collective::kAllReduce:
      return {"all_reduce", "all-reduce"};
    case model::Collective::kAllGather:
      return {"all_gather", "all-gather"};
    case model::Collective::kReduceScatter:
      return {"reduce_scatter", "reduce-scatter"};
    case model::Collective::kAllToAll:
      return {"all_to_all", "all-to-all"};
    case model::Collective::kBroadcast:
      return {"broadcast", "broadcast"};
    case model::Collective::kReduce:
      return {"reduce", "reduce"};
    case model::Collective::kGather:
      return {"gather", "gather"};
    case model::Collective::kScatter:
      return {"scatter", "scatter"};
    case model::Collective::kSendRecv:
      return {"send_recv", "send and receive"};
    case model::Collective::kSend:
      return {"send", "send"};
    case model::Collective::kRecv:
      return {"recv", "receive"};
    case model::Collective::kBarrier:
      return {"barrier", "barrier"};
  }
  return {};
}

Word word_for(model::CopyKind kind) {
  switch (kind) {
    case model::CopyKind::kNotCopy:
      return {"none", "none"};
    case model::CopyKind::kH2D:
      return {"h2d", "host to device"};
    case model::CopyKind::kD2H:
      return {"d2h", "device to host"};
    case model::CopyKind::kD2D:
      return {"d2d", "on the device"};
    case model::CopyKind::kP2P:
      return {"p2p", "device to device"};
    case model::CopyKind::kH2H:
      return {"h2h", "host to host"};
    case model::CopyKind::kUnknown:
      return {"unknown", "of unknown kind"};
  }
  return {};
}

Word word_for(model::HostMemory memory) {
  switch (memory) {
    case model::HostMemory::kUnknown:
      return {"unknown", "?"};
    case model::HostMemory::kPageable:
      return {"pageable", "pageable"};
    case model::HostMemory::kPinned:
      return {"pinned", "pinned"};
  }
  return {};
}

Word word_for(model::LoaderKind kind) {
  switch (kind) {
    case model::LoaderKind::kNoLoader:
      return {"no_loader", "no loader"};
    case model::LoaderKind::kSingleProcess:
      return {"single_process", "in the training process"};
    case model::LoaderKind::kMultiProcess:
      return {"multi_process", "in worker processes"};
    case model::LoaderKind::kUnknown:
      return {"unknown", "in a way that is not known"};
  }
  return {};
}

Word word_for(model::StepSource source) {
  switch (source) {
    case model::StepSource::kNotFound:
      return {"not_found", "not found"};
    case model::StepSource::kProfilerMarkers:
      return {"profiler_markers", "profiler markers"};
    case model::StepSource::kHook:
      return {"hook", "the Python hook"};
    case model::StepSource::kOptimizer:
      return {"optimizer", "optimizer ranges"};
    case model::StepSource::kRepetition:
      return {"repetition", "repeating launches"};
  }
  return {};
}

Word word_for(model::RankSource source) {
  switch (source) {
    case model::RankSource::kDistributedInfo:
      return {"distributed_info", "as recorded"};
    case model::RankSource::kFileName:
      return {"file_name", "from the file name"};
    case model::RankSource::kOrder:
      return {"order", "from the order of the files"};
    case model::RankSource::kSingle:
      return {"single", "the only one"};
  }
  return {};
}

Word word_for(model::StatSeverity severity) {
  switch (severity) {
    case model::StatSeverity::kInfo:
      return {"info", "mended"};
    case model::StatSeverity::kDataLoss:
      return {"data_loss", "lost"};
  }
  return {};
}

Word word_for(model::CriticalSegment::Kind kind) {
  using Kind = model::CriticalSegment::Kind;
  switch (kind) {
    case Kind::kKernel:
      return {"kernel", "kernel"};
    case Kind::kCopy:
      return {"copy", "copy"};
    case Kind::kComm:
      return {"comm", "communication"};
    case Kind::kHostOp:
      return {"host_op", "operator on the host"};
    case Kind::kHostOther:
      return {"host_other", "other host code"};
    case Kind::kBlocked:
      return {"blocked", "host blocked"};
    case Kind::kLaunchLatency:
      return {"launch_latency", "launch latency"};
    case Kind::kDeviceGap:
      return {"device_gap", "gap on the device"};
  }
  return {};
}

}  // namespace pyrometer::output

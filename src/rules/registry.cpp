#include "rules/allocator_calls_in_step.h"
#include "rules/comm_exposed.h"
#include "rules/comm_low_overlap.h"
#include "rules/comm_repeated_reductions.h"
#include "rules/comm_skew.h"
#include "rules/compute_bound.h"
#include "rules/debug_anomaly_mode.h"
#include "rules/debug_launch_blocking.h"
#include "rules/device_no_gpu_work.h"
#include "rules/device_unused.h"
#include "rules/input_bound.h"
#include "rules/input_respawned_workers.h"
#include "rules/input_serial_loader.h"
#include "rules/launch_bound.h"
#include "rules/launch_cpu_work.h"
#include "rules/launch_host_code.h"
#include "rules/launch_tiny_kernels.h"
#include "rules/launch_unfused_optimizer.h"
#include "rules/layout_channels_first.h"
#include "rules/layout_cudnn_benchmark.h"
#include "rules/memory_batch_headroom.h"
#include "rules/memory_growth.h"
#include "rules/memory_near_limit.h"
#include "rules/pauses_checkpoint.h"
#include "rules/pauses_compile.h"
#include "rules/pauses_gc.h"
#include "rules/pauses_logging.h"
#include "rules/pauses_validation.h"
#include "rules/precision_fp32_no_tf32.h"
#include "rules/precision_no_amp.h"
#include "rules/rule.h"
#include "rules/steps_outliers.h"
#include "rules/sync_blocking_calls.h"
#include "rules/trace_incomplete.h"
#include "rules/transfer_d2h_in_step.h"
#include "rules/transfer_host_created.h"
#include "rules/transfer_pageable_h2d.h"
#include "rules/transfer_small_copies.h"

namespace pyrometer::rules {

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> rules = {
      {"device.no_gpu_work", judge_device_no_gpu_work},
      {"trace.incomplete", judge_trace_incomplete},
      {"device.unused", judge_device_unused},
      {"input.serial_loader", judge_input_serial_loader},
      {"input.bound", judge_input_bound},
      {"input.respawned_workers", judge_input_respawned_workers},
      {"transfer.pageable_h2d", judge_transfer_pageable_h2d},
      {"transfer.small_copies", judge_transfer_small_copies},
      {"transfer.host_created", judge_transfer_host_created},
      {"transfer.d2h_in_step", judge_transfer_d2h_in_step},
      {"sync.blocking_calls", judge_sync_blocking_calls},
      {"launch.bound", judge_launch_bound},
      {"launch.unfused_optimizer", judge_launch_unfused_optimizer},
      {"launch.host_code", judge_launch_host_code},
      {"launch.cpu_work", judge_launch_cpu_work},
      {"precision.fp32_no_tf32", judge_precision_fp32_no_tf32},
      {"precision.no_amp", judge_precision_no_amp},
      {"layout.channels_first", judge_layout_channels_first},
      {"allocator.calls_in_step", judge_allocator_calls_in_step},
      {"pauses.checkpoint", judge_pauses_checkpoint},
      {"pauses.validation", judge_pauses_validation},
      {"pauses.logging", judge_pauses_logging},
      {"pauses.gc", judge_pauses_gc},
      {"pauses.compile", judge_pauses_compile},
      {"steps.outliers", judge_steps_outliers},
      {"comm.exposed", judge_comm_exposed},
      {"comm.low_overlap", judge_comm_low_overlap},
      {"comm.skew", judge_comm_skew},
      {"comm.repeated_reductions", judge_comm_repeated_reductions},
      {"layout.cudnn_benchmark", judge_layout_cudnn_benchmark},
      {"debug.launch_blocking", judge_debug_launch_blocking},
      {"debug.anomaly_mode", judge_debug_anomaly_mode},
      {"memory.near_limit", judge_memory_near_limit},
      {"memory.growth", judge_memory_growth},
      {"memory.batch_headroom", judge_memory_batch_headroom},
      {"launch.tiny_kernels", judge_launch_tiny_kernels},
      {"compute.bound", judge_compute_bound},
  };
  return rules;
}

}  // namespace pyrometer::rules

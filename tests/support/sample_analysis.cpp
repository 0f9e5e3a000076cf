#include "tests/support/sample_analysis.h"

#include <algorithm>
#include <memory>
#include <string>

#include "model/timeline_builder.h"

namespace pyrometer::testing {
namespace {

using model::Cause;
using model::DurationNs;
using model::TimeNs;

constexpr DurationNs kUs = 1000;
constexpr DurationNs kMs = 1000 * kUs;
constexpr TimeNs kOrigin = 1'700'000'000'000'000'000;

struct Names {
  model::NameId gemm, elementwise, launch, sync, copy, linear, optimizer, annotation, item;
};

std::string hostile_name(const std::string& name) {
  return "\x1b[31m\x1b]0;title\x07" + name +
         "|`<b>`@user [x](https://x)\xFF\xC2\x9B\xE2\x80\xAE\r\n" + std::string(500, 'w');
}

Names intern_names(model::RankTimeline& timeline, bool hostile) {
  const auto name = [&](const std::string& text) {
    return timeline.names.intern(hostile ? hostile_name(text) : text);
  };
  return {
      name("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1"),
      name("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "
           "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, "
           "3ul>)"),
      name("cudaLaunchKernel"),
      name("cudaStreamSynchronize"),
      name("Memcpy HtoD (Pageable -> Device)"),
      name("aten::linear"),
      name("Optimizer.step#AdamW.step"),
      name("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
      name("aten::_local_scalar_dense")};
}

DurationNs step_length(int step) { return 30 * kMs + (step == 7 ? 12 * kMs : 0); }

model::RankTimeline sample_timeline(int rank, const SampleOptions& options) {
  model::TimelineBuilder builder;
  model::RankTimeline& timeline = builder.timeline();
  const Names names = intern_names(timeline, options.hostile);
  timeline.info.rank = rank;
  timeline.info.world_size = options.ranks;
  timeline.info.source =
      options.ranks > 1 ? model::RankSource::kDistributedInfo : model::RankSource::kSingle;
  const std::string file = "traces/rank" + std::to_string(rank) + ".trace.json.gz";
  timeline.info.file = options.hostile ? hostile_name(file) : file;
  timeline.info.host = options.hostile ? hostile_name("host") : "host";
  timeline.info.record_shapes = true;
  timeline.info.json_bytes = 123456;
  timeline.info.event_count = 999;
  const model::DeviceId device = builder.device(rank);
  timeline.devices[device].name = options.hostile ? hostile_name("NVIDIA H200") : "NVIDIA H200";
  timeline.devices[device].total_memory_bytes = 150'000'000'000;
  timeline.devices[device].compute_major = 9;
  timeline.devices[device].compute_minor = 0;
  const model::ThreadId thread = builder.thread(100, "100");
  TimeNs at = kOrigin;
  for (int step = 0; step < options.steps; ++step) {
    const auto correlation = static_cast<std::uint64_t>(step + 1);
    builder.add_api_call(at + 20 * kMs, at + 20 * kMs + 5 * kUs, names.launch, thread, correlation);
    builder.add_activity(model::ActivityKind::kKernel, at + 21 * kMs, at + 29 * kMs, names.gemm,
                         device, 7, correlation);
    at += step_length(step);
  }
  timeline.stats.add("negative_duration", model::StatSeverity::kDataLoss, 4711,
                     "events with an end before their start were left out", 3);
  timeline.stats.add("stray_comma", model::StatSeverity::kInfo, 12, "commas too many were skipped");
  return builder.finish();
}

model::DurationStats stats(std::int64_t count, DurationNs total, DurationNs longest) {
  const DurationNs mean = total / count;
  return {count, total, mean, mean, longest - longest / 10, longest};
}

// What a step is made of; sums to its length.
model::CauseTimes step_causes(DurationNs length, bool waits) {
  model::CauseTimes causes{};
  at(causes, Cause::kComputeTensor) = 6 * kMs + 1;
  at(causes, Cause::kComputeMemory) = 2 * kMs + 333;
  at(causes, Cause::kComputeOther) = 20 * kUs;
  at(causes, Cause::kCopyH2d) = 30 * kUs;
  at(causes, Cause::kCommTransfer) = 1 * kMs;
  at(causes, waits ? Cause::kCommSkew : Cause::kIdleHost) = 2 * kMs;
  at(causes, Cause::kIdleLaunch) = 1 * kMs + 7;
  at(causes, Cause::kIdleDevice) = 40 * kUs;
  at(causes, Cause::kUnattributed) = 300 * kUs;
  at(causes, Cause::kIdleInput) = length - model::total(causes);
  return causes;
}

void fill_waterfall(model::RankAnalysis& rank, bool waits, bool known) {
  model::DeviceWaterfall device;
  device.window = rank.steps.window;
  for (const model::Step& step : rank.steps.steps) {
    device.steps.push_back(step_causes(step.span.length(), waits));
    for (std::size_t i = 0; i < model::kCauseCount; ++i) device.causes[i] += device.steps.back()[i];
    model::Gap gap;
    gap.span = {step.span.start, step.span.start + 20 * kMs};
    gap.next = 0;
    at(gap.causes, Cause::kIdleInput) = 20 * kMs;
    device.gaps.push_back(gap);
  }
  device.unattributed.push_back(
      {"no host events on the launching thread", at(device.causes, Cause::kUnattributed)});
  rank.waterfall.causes = device.causes;
  rank.waterfall.skew_known = known;
  rank.waterfall.devices.push_back(std::move(device));
}

void fill_steps(model::RankAnalysis& rank, int count) {
  model::Steps& steps = rank.steps;
  steps.source = model::StepSource::kProfilerMarkers;
  steps.how = "Steps from ProfilerStep markers.";
  TimeNs at = kOrigin;
  for (int i = 0; i < count; ++i) {
    const model::Interval span{at, at + step_length(i)};
    steps.steps.push_back({i + 3, span, {span.start + 1, span.end}});
    at = span.end;
  }
  steps.window = {kOrigin, at};
  steps.recorded = {kOrigin - 60 * kMs, at};  // start-up
  steps.stats = {(at - kOrigin) / count, 30 * kMs, 36 * kMs, 30 * kMs, 42 * kMs};
  rank.patterns.outliers.push_back({7, 42 * kMs, 8.5});
}

void fill_tables(model::RankAnalysis& rank, const Names& names, int steps) {
  const model::KernelTraits gemm{model::KernelClass::kGemm, model::MatrixUnits::kYes,
                                 model::MathType::kBf16};
  const model::KernelTraits add{model::KernelClass::kElementwise};
  const DurationNs gemm_total = steps * 6 * kMs;
  const DurationNs add_total = steps * 2 * kMs;
  rank.kernels.all = stats(steps * 50, gemm_total + add_total, 400 * kUs);
  rank.kernels.by_name = {
      {names.gemm, gemm, stats(steps * 10, gemm_total, 900 * kUs), 0.75, 168, 25.0F},
      {names.elementwise, add, stats(steps * 40, add_total, 80 * kUs), 0.25, -1, -1.0F}};
  rank.kernels.by_class = {
      {gemm.klass, gemm.matrix_units, gemm.math, stats(steps * 10, gemm_total, 900 * kUs), 0.75},
      {add.klass, add.matrix_units, add.math, stats(steps * 40, add_total, 80 * kUs), 0.25}};
  rank.host.ops = {{names.linear, false, steps * 4, 5 * kMs, 2 * kMs, gemm_total, gemm_total, 40},
                   {names.optimizer, true, steps, 3 * kMs, 1 * kMs, add_total, 0, 80}};
  model::LaunchStats launch;
  launch.launches = steps * 50;
  launch.per_step = 50;
  launch.empty_queue_launches = steps;
  launch.latency_p50 = 4 * kUs;
  launch.latency_p95 = 9 * kUs;
  launch.queue_delay_p50 = 12 * kUs;
  launch.queue_empty_share = 0.63;
  launch.queue_length_mean = 1.75;
  launch.queue_length_max = 12;
  launch.short_kernel_share = 0.4;
  launch.queue_curve = {0, 1, 2, 3, 12, 6, 3, 1, 0.5, 0};
  rank.host.launch = {launch};
  model::SyncRow sync;
  sync.api = names.sync;
  sync.op = names.item;
  sync.leaf_op = names.item;
  sync.count = steps;
  sync.per_step = 1;
  sync.blocked = 4 * kMs;
  sync.waiting_busy = 3 * kMs;
  sync.waiting_idle = 1 * kMs;
  sync.drained_after = 2 * kMs;
  rank.host.syncs = {sync};
  rank.transfers.copies = {{model::CopyKind::kH2D, model::HostMemory::kPageable, false,
                            stats(steps, steps * 30 * kUs, 50 * kUs), 1 << 20, 6.2, 2, 30 * kUs},
                           {model::CopyKind::kD2D, model::HostMemory::kUnknown, true,
                            stats(steps, steps * 2 * kUs, 3 * kUs), -1, -1, 0, 0}};
  rank.transfers.allocator = {14, 3, 1.25, 0.25, 5 * kMs, true};
  model::MemoryCurve memory;
  memory.recorded = true;
  memory.peak_allocated = 70'200'000'000;
  memory.peak_reserved = 80'000'000'000;
  memory.total = 150'000'000'000;
  memory.growth_per_step = 1e6;
  memory.growth_r = 0.9;
  for (int i = 0; i < 40; ++i)
    memory.curve.push_back({kOrigin + i * kMs, (i % 10) * 7'800'000'000, -1});
  rank.transfers.memory = {memory};
  rank.patterns.sequences.push_back({.kernels = {names.elementwise, names.elementwise, names.gemm},
                                     .back_to_back = true,
                                     .count = 24,
                                     .device_total = 2 * kMs,
                                     .span_total = 3 * kMs});
  rank.patterns.same_sequence_every_step = true;
  rank.pauses.input.kind = model::LoaderKind::kSingleProcess;
  rank.pauses.input.waits = steps;
  rank.pauses.input.total = steps * 18 * kMs;
  rank.pauses.input.p50 = 18 * kMs;
  rank.pauses.input.max = 30 * kMs;
  rank.pauses.input.operators = steps * 32;
  rank.pauses.input.iterator_starts = 1;
  rank.pauses.input.iterator_start_time = 4 * kMs;
  model::InferredRegion saving{{kOrigin, kOrigin + 9 * kMs}, Cause::kIdleCheckpoint, 7, 1 << 20};
  at(saving.causes, Cause::kIdleHost) =
      std::min(9 * kMs, at(rank.waterfall.causes, Cause::kIdleHost));
  rank.pauses.inferred.push_back(saving);
  rank.patterns.outlier_period = 5;
  model::CriticalPath& path = rank.patterns.critical_path;
  path.step = 1;
  using Kind = model::CriticalSegment::Kind;
  const TimeNs begin = rank.steps.steps[1].span.start;
  path.segments = {{Kind::kHostOther, 0, {begin, begin + 22 * kMs}},
                   {Kind::kKernel, names.gemm, {begin + 22 * kMs, begin + 30 * kMs}}};
  path.summary = {{Kind::kHostOther, 0, 22 * kMs}, {Kind::kKernel, names.gemm, 8 * kMs}};
  rank.dilation.available = true;
  rank.dilation.per_op_ns = 6500;
  rank.dilation.basis = "record_shapes on: 6.5 µs per operator";
  rank.replay = {true, "", 31e6, 31.5e6, 0.016, 28.4e6, 27.9e6, 29.1e6, steps};
  rank.facts.set(model::FactId::kStepsMean, 31e6);
  rank.facts.set_missing(model::FactId::kStepsWindow, "made by hand");
}

void fill_communication(model::RankAnalysis& rank, const SampleOptions& options) {
  model::CommRow row;
  row.collective = "all_reduce";
  row.group = options.hostile ? hostile_name("default_pg") : "default_pg";
  row.group_size = options.ranks;
  row.stats = stats(options.steps, options.steps * 3 * kMs, 5 * kMs);
  row.bytes = 1LL << 30;
  row.per_step = 1;
  row.exposed = options.steps * 1 * kMs;
  row.overlapped = options.steps * 2 * kMs;
  rank.comm.rows = {row};
  rank.comm.total = row.stats.total;
  rank.comm.exposed = row.exposed;
  rank.comm.overlap = 0.667;
}

void fill_cross_rank(SampleJob& sample, const SampleOptions& options) {
  model::CrossRank& cross = sample.job.cross;
  cross.matched = true;
  cross.how = "12 collectives matched by sequence number.";
  cross.slow_rank = 1;
  cross.slow_cause = "compute";
  cross.imbalance = 0.31;
  cross.clock.resize(static_cast<std::size_t>(options.ranks));
  for (model::ClockMap& clock : cross.clock) clock.known = true;
  cross.clock_offset.resize(cross.clock.size());
  for (int rank = 0; rank < options.ranks; ++rank) {
    cross.balance.push_back({.rank = rank, .step_mean_ns = 31e6, .late_share = 0.5});
  }
  model::CollectiveMatch match;
  match.activity.assign(static_cast<std::size_t>(options.ranks), 0);
  match.last_rank = 1;
  match.collective = model::Collective::kAllReduce;
  match.complete = true;
  cross.matches.push_back(std::move(match));
}

model::Finding loader_finding(bool hostile) {
  model::Finding finding;
  finding.id = "input.serial_loader";
  finding.severity = model::Severity::kCritical;
  finding.confidence = model::Confidence::kHigh;
  finding.title = "The data loader runs in the training process";
  finding.summary =
      "Of each 31.0 ms step the GPU waits 18.6 ms for the loader, which loads on the training "
      "thread "
      "because num_workers is 0.";
  if (hostile) finding.summary += hostile_name(" in ");
  finding.evidence = {
      {"loader_wait_share", 0.6, "fraction", ">=", 0.2, "XProf: 20%", ""},
      {"loader_workers", 0, "count", "", std::nullopt, "", "told by the range's name"}};
  finding.ranks = {0};
  finding.share_of_time = 0.6;
  finding.prediction =
      model::Prediction{10.1e6, 11.0e6, 13.2e6, 28.4e6, 0.016, "loader in 8 workers"};
  finding.fix =
      "Load in worker processes, keep them alive between epochs, copy from pinned memory.";
  finding.fix_code =
      "loader = DataLoader(dataset, batch_size=32,\n                    num_workers=8, "
      "pin_memory=True)";
  finding.where = {hostile ? hostile_name("train.py:12") : "train.py:12"};
  return finding;
}

void fill_diagnosis(model::Diagnosis& diagnosis, const SampleOptions& options) {
  diagnosis.verdict = options.findings
                          ? "The GPU waits for the data loader 60% of the time; loading in worker "
                            "processes should make a step 2.2–2.8× as fast."
                          : "Healthy: nothing found that is worth changing.";
  diagnosis.not_judged = {
      {"memory.growth", "no allocator events were recorded (profile_memory=True)"},
      {"memory.near_limit", "no allocator events were recorded (profile_memory=True)"},
      {"comm.skew", "it takes at least two ranks"}};
  if (!options.findings) return;
  diagnosis.findings.push_back(loader_finding(options.hostile));
  model::Finding syncs;
  syncs.id = "sync.blocking_calls";
  syncs.severity = model::Severity::kWarning;
  syncs.title = "Blocking calls drain the GPU's queue";
  syncs.summary = "aten::_local_scalar_dense blocks once per step.";
  syncs.ranks = {0};
  syncs.prediction = model::Prediction{26e6, 27e6, 28.4e6, 28.4e6, 0.016, "no blocking calls"};
  syncs.fix = "Read the loss every 100 steps.";
  diagnosis.findings.push_back(syncs);
  for (int i = 0; i < 5; ++i) {
    model::Finding info;
    info.id = "compute.bound";
    info.title = "Note " + std::to_string(i);
    info.no_prediction = "nothing to change";
    diagnosis.findings.push_back(info);
  }
  diagnosis.joint = model::Prediction{9.0e6, 10.0e6, 12.5e6, 28.4e6, 0.016, "all fixes"};
}

}  // namespace

SampleJob sample_job(const SampleOptions& options) {
  SampleJob sample;
  sample.job.ranks.resize(static_cast<std::size_t>(options.ranks));
  for (int r = 0; r < options.ranks; ++r) {
    sample.timeline.ranks.push_back(sample_timeline(r, options));
    model::RankAnalysis& rank = sample.job.ranks[static_cast<std::size_t>(r)];
    fill_steps(rank, options.steps);
    fill_waterfall(rank, r != 1 && options.ranks > 1, options.ranks > 1);
    fill_tables(rank, intern_names(sample.timeline.ranks.back(), options.hostile), options.steps);
    fill_communication(rank, options);
    for (std::size_t i = 0; i < model::kCauseCount; ++i) {
      sample.job.causes[i] += rank.waterfall.causes[i];
    }
  }
  if (options.ranks > 1) fill_cross_rank(sample, options);
  if (options.hostile) sample.timeline.notes.push_back(hostile_name("passed over: "));
  fill_diagnosis(sample.diagnosis, options);
  return sample;
}

SampleJob empty_job() {
  SampleJob sample;
  sample.diagnosis.verdict = "Nothing to judge.";
  return sample;
}

SampleJob host_only_job() {
  SampleJob sample;
  model::TimelineBuilder builder;
  const model::NameId name = builder.timeline().names.intern("aten::add");
  builder.add_host_op(kOrigin, kOrigin + kMs, name, builder.thread(1, "1"));
  builder.timeline().info.file = "cpu.json";
  sample.timeline.ranks.push_back(builder.finish());
  sample.job.ranks.resize(1);
  sample.job.ranks[0].replay.unavailable = "no device activity was recorded";
  sample.diagnosis.verdict = "No GPU work in this trace.";
  return sample;
}

SampleJob recorded_job() {
  SampleJob sample = sample_job();
  model::RankTimeline& rank = sample.timeline.ranks[0];
  const model::Interval window = sample.job.ranks[0].steps.window;
  auto run = std::make_shared<model::RecordedRun>();
  run->span = {window.start - 900 * kMs, window.end + 500 * kMs};
  run->ended = true;
  run->exit_code = 0;
  run->steps_total = 40;
  for (int i = 0; i < 40; ++i) {
    model::RecordedStep step;
    step.index = i;
    step.device = 0;
    step.span = {window.start + (i - 28) * 31 * kMs, window.start + (i - 27) * 31 * kMs};
    step.longest = step.span.length();
    step.samples = 64;
    step.input_wait = 18 * kMs;
    step.captured = i % 2 == 0;
    if (step.captured) {
      at(step.causes, Cause::kComputeTensor) = 8 * kMs;
      at(step.causes, Cause::kIdleInput) = 23 * kMs;
    }
    run->steps.push_back(step);
  }
  run->regions = {{"checkpoint", 2, 80 * kMs, 50 * kMs, 1 << 20},
                  {"validation", 1, 120 * kMs, 120 * kMs, 0},
                  {"gc", 3, 4 * kMs, 2 * kMs, 0},
                  {"loader_start", 2, 60 * kMs, 40 * kMs, 0}};
  run->host_lines = {
      {"stack input train.py:12 __getitem__ | PIL/Image.py:3 open", 30},
      {"stack forward train.py:40 main | torch/nn/modules/linear.py:114 forward", 15}};
  run->blocking_lines = {{"item", "train.py:58", 40, 36 * kMs, 2 * kMs},
                         {"nonzero", "model/masks.py:7", 20, 4 * kMs, kMs}};
  run->info["override.loader.workers"] = "applied: num_workers 0 -> 8";
  run->energy = {
      {"counter",
       "gpu 3",
       0,
       700,
       {window.start - 800 * kMs, window.end},
       420,
       {window.start - 28 * 31 * kMs, window.end - 62 * kMs},
       {},
       ""},
      {"polled", "gpu 3", 0, 560, {window.start - 800 * kMs, window.end}, 330, {}, {}, ""},
      {"cpu", "host", -1, 210, {window.start - 800 * kMs, window.end}, 0, {}, {}, ""},
      {"memory", "host", -1, 30, {window.start - 800 * kMs, window.end}, 0, {}, {}, ""}};
  run->overhead.measured = true;
  run->overhead.ratio = 0.012;
  run->overhead.low = 0.008;
  run->overhead.high = 0.016;
  run->overhead.duty = 0.5;
  run->overhead.switching = 0.0005;
  run->overhead.windows = 14;
  run->overhead.monitor_cpu = 11 * kMs;
  run->kept = window.length();
  rank.run = run;
  rank.info.file = "train-20261201-093000.pyro";
  model::RankAnalysis& analysis = sample.job.ranks[0];
  analysis.steps.source = model::StepSource::kHook;
  analysis.steps.how = "a step ends with the optimizer's step, as the Python hook saw it";
  analysis.dilation = {};
  analysis.dilation.unavailable = "recorded without a profiler";
  return sample;
}

SampleJob running_job() {
  SampleJob sample = host_only_job();
  auto run = std::make_shared<model::RecordedRun>();
  run->span = {kOrigin, kOrigin + 700 * kMs};
  run->overhead.why_not = "no GPU was used";
  sample.timeline.ranks[0].run = run;
  sample.timeline.ranks[0].info.file = "running.pyro";
  sample.diagnosis.verdict = "Nothing ran on a GPU: this machine has no NVIDIA GPU.";
  return sample;
}

}  // namespace pyrometer::testing

#include "tests/support/run_script.h"

#include <algorithm>
#include <utility>

#include "analysis/pass.h"
#include "analysis/what_if.h"
#include "rules/rule.h"
#include "tests/support/trace_script.h"

namespace pyrometer::testing {
namespace {

constexpr model::TimeNs kSecond = 1'000'000'000;
constexpr model::TimeNs kBase = 1000 * kSecond;
constexpr model::DurationNs kStep = 100'000'000;
constexpr int kSteps = 600;
constexpr int kKeptSteps = 20;
constexpr int kKernels = 4;  // per step
constexpr const char* kWorkers = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__";
constexpr const char* kMain = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__";

model::TimeNs part(double share, model::DurationNs of) {
  return static_cast<model::TimeNs>(share * static_cast<double>(of));
}

void add_step(TraceScript& script, const RunShape& shape, int number) {
  const model::TimeNs start = number * kStep;
  const std::string loader = std::string(shape.workers ? kWorkers : kMain) +
                             (shape.batch.empty() ? "" : " (" + shape.batch + ")");
  model::TimeNs wait = part(shape.input, kStep);
  script.step(number, start, start + kStep);
  if (wait > 0) script.note(loader, start, start + wait);
  if (shape.paused > 0) {
    script.note(shape.pause, start + wait, start + wait + part(shape.paused, kStep));
    wait += part(shape.paused, kStep);
  }
  wait += part(shape.own, kStep);
  if (!shape.gpu) {
    script.note("pyrometer.issue#forward", start + wait, start + kStep);
    return;
  }
  // Kernels one after the other, each launched before the one before it ends; then the host waits.
  constexpr model::DurationNs kCall = 20'000;
  model::TimeNs host = start + wait;
  model::TimeNs device = host + kCall;
  const model::DurationNs each = part(shape.kernels, kStep - wait) / kKernels;
  for (int k = 0; k < kKernels; ++k) {
    const auto correlation = static_cast<std::uint64_t>(number * kKernels + k + 1);
    script.op("aten::mm", host, host + kCall);
    script.call("cudaLaunchKernel", host + kCall / 4, host + kCall / 2, correlation);
    script.kernel(shape.kernel, device, device + each, correlation);
    host += kCall;
    device += each;
  }
  script.call("cudaDeviceSynchronize", host, device);
}

}  // namespace

RunScript::RunScript(const RunShape& shape)
    : shape_(shape), run_(std::make_shared<model::RecordedRun>()) {
  run_->span = {kBase, kBase + static_cast<model::TimeNs>(kSeconds) * kSecond};
  run_->ended = true;
  run_->exit_code = 0;
  run_->pid = kPid;
  run_->steps_total = kSteps;
  run_->info["python.version"] = "3.12.1";
  if (shape.gpu) run_->devices.push_back({0, "GPU-1"});
  for (int i = 0; i < kSteps; ++i) {
    model::RecordedStep step;
    step.index = i;
    step.device = shape.gpu ? 0 : -1;
    step.span.start = kBase + 5 * kSecond + i * kStep;
    step.span.end = step.span.start + kStep;
    step.longest = kStep;
    step.input_wait = part(shape.input, kStep);
    step.captured = shape.gpu;
    const model::DurationNs busy = part(shape.kernels * (1 - shape.input), kStep);
    step.causes[static_cast<std::size_t>(model::Cause::kComputeTensor)] = busy;
    step.causes[static_cast<std::size_t>(model::Cause::kIdleInput)] = kStep - busy;
    run_->steps.push_back(step);
  }
}

RunScript& RunScript::series(std::string_view object, std::string_view name,
                             const std::function<double(double second)>& value) {
  model::CounterSummary counter;
  counter.object = object;
  counter.name = name;
  for (int second = 0; second <= static_cast<int>(kSeconds); ++second) {
    const double now = value(second);
    counter.points.push_back({kBase + second * kSecond, now});
    counter.min = second == 0 ? now : std::min(counter.min, now);
    counter.max = second == 0 ? now : std::max(counter.max, now);
    counter.mean += now / (kSeconds + 1);
  }
  counter.first = counter.points.front().value;
  counter.last = counter.points.back().value;
  counter.count = static_cast<std::int64_t>(counter.points.size());
  std::erase_if(run_->counters, [&](const model::CounterSummary& one) {
    return one.object == object && one.name == name;
  });
  run_->counters.push_back(std::move(counter));
  return *this;
}

RunScript& RunScript::gauge(std::string_view object, std::string_view name, double value) {
  return series(object, name, [value](double) { return value; });
}

RunScript& RunScript::grows(std::string_view object, std::string_view name, double per_second) {
  return series(object, name, [per_second](double second) { return per_second * second; });
}

RunScript& RunScript::text(std::string_view object, std::string_view name, std::string_view text) {
  run_->texts.push_back(
      {std::string(name), std::string(object), {{kBase, false, std::string(text)}}});
  return *this;
}

RunScript& RunScript::info(std::string_view key, std::string_view value) {
  run_->info[std::string(key)] = value;
  return *this;
}

RunScript& RunScript::machine(double cpus, double own, double others) {
  gauge("host", "host.cpus", cpus);
  gauge("host", "host.cpus_allowed", cpus);
  gauge("process 100", "process.cpus_allowed", cpus);
  gauge("host", "host.cpu_busy", std::min(1.0, (own + others) / cpus));
  grows("host", "tree.cpu", own * 1e9);
  gauge("host", "tree.threads", 40);
  return text("process 100", "process.name", "python3");
}

RunScript& RunScript::waits_for_cpu(double share, double threads) {
  grows("process 100", "process.run_wait", share * 1e9);
  return grows("process 100", "process.threads_run_wait", (threads > 0 ? threads : share) * 1e9);
}

RunScript& RunScript::loader_workers(int count, double cpu, double run_wait, double allowed) {
  info("loader.0.num_workers", std::to_string(count));
  for (int i = 0; i < count; ++i) {
    const std::string object = "process " + std::to_string(kPid + 1 + i);
    gauge(object, "process.parent", kPid);
    text(object, "process.name", "python3");
    grows(object, "process.cpu_user", cpu * 1e9);
    gauge(object, "process.cpu_system", 0);
    grows(object, "process.run_wait", run_wait * 1e9);
    gauge(object, "process.resident", 200e6);
    gauge(object, "process.cpus_allowed", allowed);
    grows(object, "process.read", 0);
  }
  return *this;
}

model::Diagnosis RunScript::diagnose() const {
  TraceScript script;
  for (int i = 0; i < kKeptSteps; ++i) add_step(script, shape_, i);
  model::RankTimeline rank = script.builder().finish();
  if (!shape_.gpu) rank.devices.clear();
  rank.run = run_;
  model::Timeline timeline;
  timeline.ranks.push_back(std::move(rank));
  const model::JobAnalysis job = analysis::run_passes(timeline, {.threads = 1});
  const analysis::WhatIf what_if(timeline, job);
  return rules::diagnose(timeline, job, what_if);
}

std::string causes_of(const model::Diagnosis& diagnosis) {
  std::string text;
  for (const model::Finding& finding : diagnosis.findings) {
    if (finding.severity == model::Severity::kInfo || finding.id == "device.no_gpu_work") continue;
    text += (text.empty() ? "" : " ") + finding.id;
  }
  return text;
}

const model::Finding* find(const model::Diagnosis& diagnosis, std::string_view id) {
  const auto at = std::find_if(diagnosis.findings.begin(), diagnosis.findings.end(),
                               [id](const model::Finding& finding) { return finding.id == id; });
  return at == diagnosis.findings.end() ? nullptr : &*at;
}

}  // namespace pyrometer::testing

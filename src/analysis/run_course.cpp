#include "analysis/run_course.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/run_counters.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::DurationNs;
using model::FactId;
using model::Interval;
using model::RecordedStep;
using model::TimeNs;

constexpr double kLowUse = 0.3;  // the mission's stop-or-go rule: utilization below 30%
constexpr const char* kNoHook = "the Python hook did not tell";

bool is_busy(model::Cause cause) {
  const model::CauseGroup group = model::cause_info(cause).group;
  return group != model::CauseGroup::kIdle && group != model::CauseGroup::kUnattributed;
}

double busy_share(const RecordedStep& step) {
  DurationNs busy = 0;
  for (std::size_t i = 0; i < model::kCauseCount; ++i) {
    if (is_busy(static_cast<model::Cause>(i))) busy += step.causes[i];
  }
  return static_cast<double>(busy) /
         static_cast<double>(std::max<DurationNs>(1, step.span.length()));
}

class RunCourse {
 public:
  RunCourse(const model::RankTimeline& t, FactWriter& facts) : run_(*t.run), facts_(facts) {
    for (const RecordedStep& step : run_.steps) {
      if (step.count == 0) continue;
      if (steps_ == 0) first_start_ = step.span.start;
      // A step on several devices has a row for each.
      if (steps_ == 0 || step.span.start != last_start_) {
        steps_ += step.count;
        step_time_ += static_cast<double>(step.span.length());
        input_wait_ += static_cast<double>(step.input_wait);
      }
      last_start_ = step.span.start;
      last_end_ = std::max(last_end_, step.span.end);
    }
  }

  void measure() {
    if (steps_ == 0) {
      facts_.missing(
          {FactId::kRunStartup, FactId::kRunStartupShare, FactId::kRunAfter, FactId::kRunAfterShare,
           FactId::kRunUtilAfter, FactId::kRunStepShare, FactId::kRunLowUseEpochs},
          "no step was recorded");
    } else {
      measure_ends();
      measure_goodput();
      measure_low_use();
    }
    facts_.set(FactId::kRunElapsed, static_cast<double>(run_.span.length()));
    facts_.set(FactId::kRunEpochs, static_cast<double>(epochs()));
    facts_.ratio(FactId::kRunProfilerShare, static_cast<double>(region("profiler").total),
                 static_cast<double>(run_.span.length()), "the run has no length");
    measure_updates();
    measure_compile();
    measure_parallel();
    measure_allocator();
    tell_transports();
  }

 private:
  model::RegionTotal region(std::string_view kind) const {
    const auto at = std::find_if(run_.regions.begin(), run_.regions.end(),
                                 [&](const model::RegionTotal& r) { return r.kind == kind; });
    return at == run_.regions.end() ? model::RegionTotal{} : *at;
  }

  std::optional<std::string> info(const std::string& key) const {
    const auto found = run_.info.find(key);
    if (found == run_.info.end()) return std::nullopt;
    return found->second;
  }

  // Loaders of validations end epochs too.
  std::int64_t epochs() const {
    const std::int64_t all = region("epoch").count;
    const std::int64_t validations = region("validation").count;
    return all - std::min(validations, all / 2);
  }

  void measure_ends() {
    const auto whole = static_cast<double>(run_.span.length());
    const DurationNs startup = std::max<DurationNs>(0, first_start_ - run_.span.start);
    const DurationNs after = std::max<DurationNs>(0, run_.span.end - last_end_);
    facts_.set(FactId::kRunStartup, static_cast<double>(startup));
    facts_.ratio(FactId::kRunStartupShare, static_cast<double>(startup), whole,
                 "the run has no length");
    facts_.set(FactId::kRunAfter, static_cast<double>(after));
    facts_.ratio(FactId::kRunAfterShare, static_cast<double>(after), whole,
                 "the run has no length");
    // What the last step queued, and the driver's sampling period, belong to the steps still.
    constexpr DurationNs kSettled = 2'000'000'000;
    const RunCounters counters(run_, {last_end_ + kSettled, run_.span.end});
    std::optional<double> busiest;
    for (const model::CounterSummary& counter : run_.counters) {
      if (counter.name != "gpu.util" || run_.devices.empty()) continue;
      const auto gauge = counters.gauge(counter.object, "gpu.util");
      if (gauge) busiest = std::max(busiest.value_or(0), gauge->mean);
    }
    if (busiest) {
      facts_.set(FactId::kRunUtilAfter, *busiest);
    } else {
      facts_.missing(FactId::kRunUtilAfter, "fewer than 5 readings after the last step");
    }
  }

  void measure_goodput() {
    double lost = input_wait_;
    for (const char* kind : {"checkpoint", "validation", "compile"}) {
      lost += static_cast<double>(region(kind).total);
    }
    facts_.ratio(FactId::kRunStepShare, std::max(0.0, step_time_ - lost),
                 static_cast<double>(run_.span.length()), "the run has no length");
  }

  // Steps whose device was not watched say nothing and interrupt nothing.
  void measure_low_use() {
    const std::int64_t count = epochs();
    if (count == 0) {
      return facts_.missing(FactId::kRunLowUseEpochs, "no epoch ended");
    }
    DurationNs longest = 0;
    Interval low;
    bool open = false;
    bool any = false;
    for (const RecordedStep& step : run_.steps) {
      if (step.count == 0 || !step.captured || step.device < 0) continue;
      any = true;
      if (busy_share(step) >= kLowUse) {
        open = false;
        continue;
      }
      if (!open) low.start = step.span.start;
      open = true;
      low.end = step.span.end;
      longest = std::max(longest, low.length());
    }
    if (!any) {
      return facts_.missing(FactId::kRunLowUseEpochs, "no step's device was watched");
    }
    const double epoch = static_cast<double>(last_end_ - first_start_) / static_cast<double>(count);
    facts_.set(FactId::kRunLowUseEpochs, epoch > 0 ? static_cast<double>(longest) / epoch : 0);
  }

  const std::vector<model::CounterPoint>* points(std::string_view name) const {
    const model::CounterSummary* counter = RunCounters(run_, run_.span).find("process", name);
    return counter == nullptr ? nullptr : &counter->points;
  }

  // While the scale is being found, skipped updates are normal.
  void measure_updates() {
    constexpr std::int64_t kSettling = 100;
    constexpr std::int64_t kEnough = 200;
    if (const auto type = info("autocast.seen")) {
      facts_.set_text(FactId::kAmpAutocast, *type);
    } else {
      facts_.missing(FactId::kAmpAutocast, kNoHook);
    }
    if (!info("amp.grad_scaler")) {
      return facts_.missing(FactId::kAmpSkippedShare, "no GradScaler was seen");
    }
    if (steps_ < kEnough) {
      return facts_.missing(FactId::kAmpSkippedShare,
                            "fewer than 200 steps: the scale is still being found");
    }
    TimeNs settled = last_end_;
    for (const RecordedStep& step : run_.steps) {
      if (step.count > 0 && step.index + step.count > kSettling) {
        settled = step.span.end;
        break;
      }
    }
    double before = 0;
    double last = 0;
    if (const auto* skipped = points("amp.skipped_updates")) {
      for (const model::CounterPoint& point : *skipped) {
        if (point.time <= settled) before = point.value;
        last = point.value;
      }
    }
    facts_.set(FactId::kAmpSkippedShare, (last - before) / static_cast<double>(steps_ - kSettling));
  }

  void measure_compile() {
    if (const auto anomaly = info("autograd.anomaly")) {
      facts_.set(FactId::kAutogradAnomaly, *anomaly == "True" ? 1 : 0);
    } else {
      facts_.missing(FactId::kAutogradAnomaly, kNoHook);
    }
    const std::vector<FactId> ids = {FactId::kCompileRecompiles, FactId::kCompileGraphBreaks};
    if (points("compile.frames") == nullptr) {
      return facts_.missing(ids, "torch.compile was not used, or its counters were not told");
    }
    const auto* recompiles = points("compile.recompiles");
    facts_.set(FactId::kCompileRecompiles, recompiles == nullptr ? 0 : recompiles->back().value);
    const auto* breaks = points("compile.graph_breaks");
    facts_.set(FactId::kCompileGraphBreaks, breaks == nullptr ? 0 : breaks->back().value);
  }

  // Of the first of the outermost modules that is spread over devices.
  void measure_parallel() {
    constexpr int kModels = 4;  // as many as the hook describes
    std::string prefix = "model.0.";
    for (int i = kModels - 1; i >= 0; --i) {
      const std::string one = "model." + std::to_string(i) + ".";
      const auto style = info(one + "parallel");
      if (style && *style != "none") prefix = one;
    }
    if (const auto style = info(prefix + "parallel")) {
      facts_.set_text(FactId::kDdpStyle, *style);
    } else {
      facts_.missing(FactId::kDdpStyle, kNoHook);
    }
    const auto unused = info(prefix + "ddp.find_unused_parameters");
    const auto fixed = info(prefix + "ddp.static_graph");
    if (unused) {
      // With a static graph the search is done once.
      facts_.set(FactId::kDdpFindUnused, *unused == "True" && fixed != "True" ? 1 : 0);
    } else {
      facts_.missing(FactId::kDdpFindUnused, "no DistributedDataParallel module was seen");
    }
    const auto bucket = info(prefix + "ddp.bucket_cap_mb");
    double mebibytes = -1;
    if (bucket) {
      std::from_chars(bucket->data(), bucket->data() + bucket->size(), mebibytes);
    }
    if (mebibytes >= 0) {
      facts_.set(FactId::kDdpBucketMb, mebibytes);
    } else {
      facts_.missing(FactId::kDdpBucketMb, "no DistributedDataParallel module was seen");
    }
  }

  void measure_allocator() {
    const auto* retries = points("memory.alloc_retries");
    if (retries == nullptr) {
      facts_.missing(FactId::kMemoryRetries, "the allocator's statistics were not told");
    } else {
      facts_.set(FactId::kMemoryRetries, retries->back().value);
    }
  }

  void tell_transports() {
    std::string list;
    for (const char* name : {"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_IB_DISABLE"}) {
      const auto value = info(std::string("env.") + name);
      if (value && *value != "0") list += (list.empty() ? "" : ", ") + (name + ("=" + *value));
    }
    if (info("python.version")) {
      facts_.set_text(FactId::kCommTransportOff, list.empty() ? "none" : list);
    } else {
      facts_.missing(FactId::kCommTransportOff, kNoHook);
    }
  }

  const model::RecordedRun& run_;
  FactWriter& facts_;
  std::int64_t steps_ = 0;
  TimeNs first_start_ = 0;
  TimeNs last_start_ = 0;
  TimeNs last_end_ = 0;
  double step_time_ = 0;   // ns
  double input_wait_ = 0;  // ns, inside of steps
};

}  // namespace

void measure_run_course(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  if (t.run == nullptr) {
    facts.all_missing("run_course",
                      "a trace says nothing of the machine and the whole run; pyrometer run does");
    return;
  }
  RunCourse(t, facts).measure();
}

}  // namespace pyrometer::analysis

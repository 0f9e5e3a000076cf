#include "analysis/replay_plan.h"

#include <algorithm>

namespace pyrometer::analysis {
namespace {

using model::KernelClass;
using model::kNone;

std::size_t position(HostRegion region) { return static_cast<std::size_t>(region); }
std::size_t position(ActivityRole role) { return static_cast<std::size_t>(role); }

bool applies(const Edit::KernelScale& scale, const model::KernelTraits& traits, model::NameId name,
             std::string_view text) {
  if (scale.applies && !scale.applies(traits, name)) return false;
  if (scale.applies_to_name && !scale.applies_to_name(text)) return false;
  return scale.applies || scale.applies_to_name;
}

// Whether `name` stands for one of the edit's choices.
bool chosen(const Edit& edit, const model::RankTimeline& t, const GraphSync& sync) {
  if (edit.sync_names.empty()) return true;
  return std::any_of(edit.sync_names.begin(), edit.sync_names.end(), [&](const std::string& name) {
    return name == t.name(sync.api) || name == t.name(sync.leaf_op) || name == t.name(sync.op);
  });
}

// What a batch `times` as large does to a kernel: it takes longer only once it fills the device.
float batch_factor(const GraphActivity& activity, float times) {
  if (activity.role == ActivityRole::kComm) return 1;
  if (activity.waves < 0) return times;
  return std::max(1.0F, activity.waves * times) / std::max(1.0F, activity.waves);
}

// Factor per step that keeps the loader's wait within the edit's cap.
std::vector<float> capped_input(const StepGraph& graph, const Edit& edit) {
  if (edit.input_wait_cap_ns < 0) return {};
  std::vector<float> factors;
  double wait = 0;
  for (const GraphItem& item : graph.items) {
    if (item.regions != kNone) wait += graph.regions[item.regions].input * edit.input_wait;
    if (item.kind != ItemKind::kStepEnd) continue;
    factors.push_back(
        wait > edit.input_wait_cap_ns ? static_cast<float>(edit.input_wait_cap_ns / wait) : 1.0F);
    wait = 0;
  }
  return factors;
}

}  // namespace

ReplayPlan::ReplayPlan(const ReplayRank& rank, const Edit& e)
    : edit(e), graph_launch(e.graph_launch_ns >= 0) {
  const model::RankTimeline& t = *rank.timeline;
  const StepGraph& graph = *rank.graph;
  name_time.assign(graph.names.size(), 1);
  name_host.assign(graph.names.size(), 1);
  for (std::size_t i = 0; i < graph.names.size(); ++i) {
    const model::NameId name = graph.names[i];
    const model::KernelTraits traits = rank.analysis->kernel_traits[name];
    name_grows.push_back(traits.klass != KernelClass::kOptimizer ? 1 : 0);
    for (const Edit::KernelScale& scale : e.kernels) {
      if (!applies(scale, traits, name, t.name(name))) continue;
      name_time[i] *= static_cast<float>(scale.time);
      name_host[i] *= static_cast<float>(scale.host);
    }
  }
  path_host.assign(graph.paths.size(), 1);
  path_device.assign(graph.paths.size(), 1);
  for (std::size_t i = 0; i < graph.paths.size(); ++i) {
    for (const Edit::RangeScale& scale : e.ranges) {
      const auto& path = graph.paths[i];
      const bool inside = std::any_of(path.begin(), path.end(), [&](model::NameId name) {
        return t.name(name).starts_with(scale.prefix);
      });
      if (!inside) continue;
      path_host[i] *= static_cast<float>(scale.host);
      path_device[i] *= static_cast<float>(scale.device);
    }
  }
  for (const GraphPath& path : graph.paths) {
    const bool optimizer = std::any_of(path.begin(), path.end(), [&](model::NameId name) {
      return t.name(name).starts_with("Optimizer.step");
    });
    path_optimizer.push_back(optimizer ? 1 : 0);
  }
  sync_removed.assign(graph.syncs.size(), 0);
  for (std::size_t i = 1; i < graph.syncs.size() && e.remove_syncs; ++i) {
    sync_removed[i] = chosen(e, t, graph.syncs[i]) ? 1 : 0;
  }
  const auto f = [](double x) { return static_cast<float>(x); };
  const float batch = f(e.batch);
  region = {1,       f(e.input_wait), f(e.checkpoint), f(e.validation), f(e.compile),
            f(e.gc), f(e.logging)};
  role[position(ActivityRole::kKernel)] = 1;
  role[position(ActivityRole::kH2D)] = f(e.h2d_time) * batch;
  role[position(ActivityRole::kD2H)] = f(e.d2h_time) * batch;
  role[position(ActivityRole::kOtherCopy)] = batch;
  role[position(ActivityRole::kComm)] = f(e.comm_time * e.comm_count_keep);
  step_input = capped_input(graph, e);
}

bool ReplayPlan::waits(const GraphItem& item) const {
  if (item.wait == WaitFor::kNothing) return false;
  if (item.region != HostRegion::kNone && region[position(item.region)] == 0) return false;
  if (item.kind == ItemKind::kAlloc) return edit.alloc_calls > 0;
  if (item.sync != 0 && sync_removed[item.sync] != 0) return false;
  return !(item.bulk_copy && edit.copies_async);
}

ReplayPlan::HostTime ReplayPlan::host_time(const StepGraph& graph, const GraphItem& item,
                                           ProfilerLevel level) const {
  const float real = 1 - (level.weight[0] * item.profiler[0] + level.weight[1] * item.profiler[1] +
                          level.weight[2] * item.profiler[2]);
  const float in_range = path_host[item.path];
  float issue = in_range * static_cast<float>(edit.host_ops);
  if (item.activity_count > 0) issue *= name_host[graph.activities[item.first_activity].name];
  const bool copy = item.activity_count > 0 &&
                    graph.activities[item.first_activity].role != ActivityRole::kKernel &&
                    graph.activities[item.first_activity].role != ActivityRole::kComm;
  if (copy) issue *= static_cast<float>(edit.copy_host);
  if (item.feeds != 0 && sync_removed[item.feeds] != 0) {
    issue *= static_cast<float>(edit.sync_feeding_ops);
  }
  float cpu = in_range * static_cast<float>(edit.host_ops * edit.cpu_ops);
  if (item.from_host_copy) cpu *= static_cast<float>(edit.copy_feeding_ops);
  const float other = in_range * static_cast<float>(edit.host_other);
  HostTime time;
  time.real = real;
  const bool in_graph = graph_launch && item.wait == WaitFor::kNothing && !copy;
  if (graph_launch) {
    cpu = 0;
    if (in_graph || item.queue_full) issue = 0;
  }
  const float comm_ops =
      graph_launch ? 0 : in_range * static_cast<float>(edit.host_ops * edit.comm_count_keep);
  time.gap =
      (item.ops * issue + item.cpu_ops * cpu + item.comm_ops * comm_ops + item.other * other) *
      real;
  if (item.regions != kNone) {
    const RegionTimes& r = graph.regions[item.regions];
    time.gap += (r.checkpoint * region[position(HostRegion::kCheckpoint)] +
                 r.validation * region[position(HostRegion::kValidation)] +
                 r.compile * region[position(HostRegion::kCompile)] +
                 r.gc * region[position(HostRegion::kGc)] +
                 r.logging * region[position(HostRegion::kLogging)]) *
                real;
    time.input =
        r.input * region[position(HostRegion::kInput)] * static_cast<float>(edit.batch) * real;
  }
  const float call =
      item.kind == ItemKind::kAlloc ? static_cast<float>(edit.alloc_calls) * in_range : issue;
  time.own = item.own * call * region[position(item.region)] * real;
  return time;
}

float ReplayPlan::device_factor(const GraphItem& item) const {
  float factor = path_device[item.path];
  if (item.region != HostRegion::kNone && item.region != HostRegion::kInput) {
    factor *= region[position(item.region)];
  }
  if (item.feeds != 0 && sync_removed[item.feeds] != 0) {
    factor *= static_cast<float>(edit.sync_feeding_ops);
  }
  return factor;
}

float ReplayPlan::duration(const GraphItem& item, const GraphActivity& activity, float item_factor,
                           CommMode comm) const {
  float factor = item_factor * name_time[activity.name] * role[position(activity.role)];
  if (activity.role == ActivityRole::kComm) {
    return (comm == CommMode::kAlone ? activity.transfer : activity.duration) * factor;
  }
  const bool grows = name_grows[activity.name] != 0 && path_optimizer[item.path] == 0;
  if (edit.batch != 1 && grows && activity.role == ActivityRole::kKernel) {
    factor *= batch_factor(activity, static_cast<float>(edit.batch));
  }
  return activity.duration * factor;
}

}  // namespace pyrometer::analysis

#include "analysis/comm_calls.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/comm_names.h"

namespace pyrometer::analysis {
namespace {

using model::Collective;
using model::CommCall;
using model::CommDetail;
using model::CommGroup;
using model::CommTable;
using model::Index;
using model::kNone;
using model::NameId;

// Remembers what a name says, so that each distinct name is read once.
template <typename Value, Value (*Read)(std::string_view)>
class ByName {
 public:
  explicit ByName(const model::RankTimeline& t) : t_(t) {}
  Value operator()(NameId id) {
    const auto [at, is_new] = known_.try_emplace(id);
    if (is_new) at->second = Read(t_.name(id));
    return at->second;
  }

 private:
  const model::RankTimeline& t_;
  std::map<NameId, Value> known_;
};

// The collective of an operator or annotation that wraps one; other names are no evidence, whatever
// words they contain ("my broadcast helper").
Collective collective_of_range(std::string_view name) {
  for (const std::string_view prefix : {"c10d::", "nccl:", "rccl:", "ucc:", "xccl:"}) {
    if (name.starts_with(prefix)) return collective_of_name(name);
  }
  return Collective::kUnknown;
}

class Lister {
 public:
  Lister(const model::RankTimeline& t, const model::RankAnalysis& a, CommTable& out)
      : t_(t), a_(a), out_(out), of_kernel_(t), of_detail_(t), of_range_(t), width_(t) {}

  void run() {
    for (const model::Device& device : t_.devices) {
      for (Index i = device.activities.begin; i < device.activities.end; ++i) {
        if (is_comm_kernel(t_, a_, i)) add(i);
      }
    }
    assign_unknown_groups();
  }

 private:
  using StreamKey = std::pair<model::DeviceId, std::int32_t>;

  void add(Index i) {
    CommCall call;
    call.activity = i;
    const Collective kernel = of_kernel_(t_.activities.name[i]);
    call.collective = kernel;
    call.group = kNone;
    if (const Index row = t_.activities.comm[i]; row != kNone) {
      const CommDetail& detail = t_.comm_details[row];
      const Collective told = of_detail_(detail.collective);
      if (told != Collective::kUnknown) call.collective = told;
      call.bytes = bytes_of(detail);
      call.sequence = detail.sequence;
      if (detail.process_group != 0 || detail.group_ranks != 0) {
        call.group = known_group(detail);
        on_stream_[stream_of(i)].push_back(call.group);
      }
    }
    if (call.collective == Collective::kUnknown || call.collective == Collective::kSendRecv) {
      const Collective around = around_launch(t_.activities.launch[i]);
      if (around != Collective::kUnknown) call.collective = around;
    }
    call.step_number = step_of(t_.activities.launch[i]);
    kernel_collective_.push_back(kernel);
    out_.calls.push_back(call);
  }

  [[nodiscard]] StreamKey stream_of(Index i) const {
    return {t_.activities.device[i], t_.activities.stream[i]};
  }

  std::int64_t bytes_of(const CommDetail& detail) {
    const std::int64_t elements = std::max(detail.in_elements, detail.out_elements);
    const int width = detail.dtype == 0 ? 0 : width_(detail.dtype);
    return elements < 0 || width == 0 ? -1 : elements * width;
  }

  Index known_group(const CommDetail& detail) {
    const auto [at, is_new] =
        known_.try_emplace({detail.process_group, detail.group_ranks, detail.group_size},
                           static_cast<Index>(out_.groups.size()));
    if (is_new) {
      CommGroup group;
      group.name = std::string(t_.name(detail.process_group));
      group.key = "group " + group.name + " of " + std::string(t_.name(detail.group_ranks));
      group.known = true;
      group.size = detail.group_size;
      out_.groups.push_back(std::move(group));
    }
    return at->second;
  }

  void assign_unknown_groups() {
    std::map<StreamKey, Index> only;
    for (const auto& [stream, groups] : on_stream_) {
      const bool same =
          std::adjacent_find(groups.begin(), groups.end(), std::not_equal_to<>()) == groups.end();
      if (same) only[stream] = groups.front();
    }
    std::map<Collective, Index> unknown;
    for (std::size_t i = 0; i < out_.calls.size(); ++i) {
      CommCall& call = out_.calls[i];
      if (call.group != kNone) continue;
      const auto on = only.find(stream_of(call.activity));
      if (on != only.end()) {
        call.group = on->second;
        continue;
      }
      const auto [at, is_new] =
          unknown.try_emplace(kernel_collective_[i], static_cast<Index>(out_.groups.size()));
      if (is_new) {
        CommGroup group;
        group.key = "kernels of " + std::string(collective_name(kernel_collective_[i]));
        out_.groups.push_back(std::move(group));
      }
      call.group = at->second;
    }
  }

  // What wraps the launch: operators first (they nest cleanly), then annotations.
  Collective around_launch(Index launch) {
    if (launch == kNone) return Collective::kUnknown;
    for (Index op = t_.api_calls.op[launch]; op != kNone; op = t_.host_ops.parent[op]) {
      const Collective found = of_range_(t_.host_ops.name[op]);
      if (found != Collective::kUnknown) return found;
    }
    const model::RowRange rows = t_.threads[t_.api_calls.thread[launch]].annotations;
    const model::TimeNs time = t_.api_calls.start[launch];
    const auto first = t_.annotations.start.begin();
    auto i =
        static_cast<Index>(std::upper_bound(first + rows.begin, first + rows.end, time) - first);
    // An annotation of one collective is short: it is among the last few that began.
    constexpr Index kLookBack = 16;
    const Index stop = i - std::min(i - rows.begin, kLookBack);
    for (; i > stop; --i) {
      if (t_.annotations.end[i - 1] < time) continue;
      const Collective found = of_range_(t_.annotations.name[i - 1]);
      if (found != Collective::kUnknown) return found;
    }
    return Collective::kUnknown;
  }

  // Only markers have numbers that mean the same on every rank.
  [[nodiscard]] std::int64_t step_of(Index launch) const {
    const bool marked = a_.steps.source == model::StepSource::kProfilerMarkers ||
                        a_.steps.source == model::StepSource::kHook;
    if (launch == kNone || !marked) return -1;
    const model::TimeNs time = t_.api_calls.start[launch];
    const auto& steps = a_.steps.steps;
    const auto at =
        std::upper_bound(steps.begin(), steps.end(), time,
                         [](model::TimeNs v, const auto& step) { return v < step.span.start; });
    if (at == steps.begin() || time >= std::prev(at)->span.end) return -1;
    return std::prev(at)->number;
  }

  const model::RankTimeline& t_;
  const model::RankAnalysis& a_;
  CommTable& out_;
  ByName<Collective, collective_of_kernel> of_kernel_;
  ByName<Collective, collective_of_name> of_detail_;
  ByName<Collective, collective_of_range> of_range_;
  ByName<int, dtype_bytes> width_;
  std::map<std::tuple<NameId, NameId, std::int32_t>, Index> known_;
  std::map<StreamKey, std::vector<Index>> on_stream_;
  std::vector<Collective> kernel_collective_;  // by position in calls
};

}  // namespace

void list_calls(const model::RankTimeline& t, const model::RankAnalysis& a, CommTable& table) {
  Lister(t, a, table).run();
}

}  // namespace pyrometer::analysis

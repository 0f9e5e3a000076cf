#include "analysis/host_state.h"

#include <algorithm>
#include <cctype>
#include <limits>

#include "analysis/layers.h"
#include "analysis/region_rule.h"

namespace pyrometer::analysis {
namespace {

using model::ApiClass;
using model::Index;
using model::kNone;
using model::RangeTable;
using model::RowRange;
using model::TimeNs;
using Layer = std::vector<Labelled<HostState>>;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// `text` (lower case) stands in `name` with no letter directly before or after it.
bool contains_word(std::string_view name, std::string_view text) {
  const auto same = [](char a, char b) { return lower(a) == b; };
  auto from = name.begin();
  for (;;) {
    const auto at = std::search(from, name.end(), text.begin(), text.end(), same);
    if (at == name.end()) return false;
    const auto after = at + static_cast<std::ptrdiff_t>(text.size());
    const bool open_before = at == name.begin() || !is_letter(*(at - 1));
    const bool open_after = after == name.end() || !is_letter(*after);
    if (open_before && open_after) return true;
    from = at + 1;
  }
}

bool matches(const RegionRule& rule, std::string_view name) {
  if (name.find(rule.also) == std::string_view::npos) return false;
  switch (rule.match) {
    case RegionMatch::kPrefix:
      return name.starts_with(rule.text);
    case RegionMatch::kContains:
      return name.find(rule.text) != std::string_view::npos;
    case RegionMatch::kWord:
      return contains_word(name, rule.text);
  }
  return false;
}

// Regions of one table as disjoint intervals: the innermost (latest begun) open one names each
// moment. Rows are sorted by (start, -end).
void add_innermost(const RangeTable& table, RowRange rows, const std::vector<HostState>& states,
                   Layer& layer) {
  struct Open {
    TimeNs end;
    HostState state;
  };
  std::vector<Open> stack;
  TimeNs at = 0;
  const auto emit = [&](TimeNs to, HostState state) {
    if (to > at) layer.push_back({at, to, state});
    at = std::max(at, to);
  };
  const auto close_until = [&](TimeNs time) {
    while (!stack.empty() && stack.back().end <= time) {
      emit(stack.back().end, stack.back().state);
      stack.pop_back();
    }
  };
  for (Index i = rows.begin; i < rows.end; ++i) {
    const HostState state = states[table.name[i]];
    if (!is_region(state)) continue;
    close_until(table.start[i]);
    if (stack.empty()) {
      at = table.start[i];
    } else {
      emit(table.start[i], stack.back().state);
    }
    stack.push_back({table.end[i], state});
  }
  close_until(std::numeric_limits<TimeNs>::max());
}

// Appends [start, end) to a layer whose rows come by start, joining what overlaps.
void add_joined(Layer& layer, TimeNs start, TimeNs end, HostState state) {
  if (end <= start) return;
  if (!layer.empty() && start <= layer.back().end) {
    layer.back().end = std::max(layer.back().end, end);
  } else {
    layer.push_back({start, end, state});
  }
}

HostState state_of_cause(model::Cause cause) {
  switch (cause) {
    case model::Cause::kIdleInput:
      return HostState::kInput;
    case model::Cause::kIdleValidation:
      return HostState::kValidation;
    case model::Cause::kIdleCompile:
      return HostState::kCompile;
    case model::Cause::kIdleGc:
      return HostState::kGc;
    case model::Cause::kIdleLogging:
      return HostState::kLogging;
    default:
      return HostState::kCheckpoint;
  }
}

// Annotations within which the framework issues work (recordings have these instead of operators).
void add_issuing(const RangeTable& table, RowRange rows, const std::vector<HostState>& states,
                 Layer& layer) {
  for (Index i = rows.begin; i < rows.end; ++i) {
    if (states[table.name[i]] != HostState::kIssue) continue;
    add_joined(layer, table.start[i], table.end[i], HostState::kIssue);
  }
}

struct CallLayers {
  Layer alloc;
  Layer blocked;
  Layer issue;
};

CallLayers call_layers(const model::RankTimeline& t, const model::RankAnalysis& a,
                       const model::Thread& thread) {
  CallLayers layers;
  Layer ops;
  for (Index i = thread.host_ops.begin; i < thread.host_ops.end; ++i) {
    if (t.host_ops.parent[i] != kNone) continue;
    add_joined(ops, t.host_ops.start[i], t.host_ops.end[i], HostState::kIssue);
  }
  Layer calls;
  for (Index i = thread.api_calls.begin; i < thread.api_calls.end; ++i) {
    const TimeNs start = t.api_calls.start[i];
    const TimeNs end = t.api_calls.end[i];
    const ApiClass klass = a.api_class[t.api_calls.name[i]];
    if (klass == ApiClass::kAlloc || klass == ApiClass::kFree) {
      add_joined(layers.alloc, start, end, HostState::kAlloc);
    } else if (is_blocking_call(t, a, i)) {
      add_joined(layers.blocked, start, end, HostState::kBlocked);
    } else if (t.api_calls.op[i] == kNone) {
      add_joined(calls, start, end, HostState::kIssue);
    }
  }
  const auto both = flatten<HostState>({&ops, &calls});
  for (const auto& part : both) add_joined(layers.issue, part.start, part.end, part.label);
  return layers;
}

}  // namespace

HostState region_of_name(std::string_view name, RegionWhere where) {
  for (const RegionRule& rule : region_rules()) {
    if (rule.where == where && matches(rule, name)) return rule.state;
  }
  return HostState::kNone;
}

bool is_blocking_call(const model::RankTimeline& t, const model::RankAnalysis& a, Index call) {
  switch (a.api_class[t.api_calls.name[call]]) {
    case ApiClass::kStreamSync:
    case ApiClass::kDeviceSync:
    case ApiClass::kEventSync:
    case ApiClass::kCopyBlocking:
      return true;
    case ApiClass::kCopyAsync: {
      const Index activity = t.api_calls.first_activity[call];
      return activity != kNone &&
             t.activities.host_memory[activity] == model::HostMemory::kPageable;
    }
    default:
      return false;
  }
}

HostStates::HostStates(const model::RankTimeline& timeline, const model::RankAnalysis& analysis,
                       Regions regions)
    : timeline_(timeline),
      analysis_(analysis),
      regions_(regions),
      annotation_state_(timeline.names.size(), HostState::kNone),
      python_state_(timeline.names.size(), HostState::kNone),
      by_thread_(timeline.threads.size()) {
  const auto fill = [&](const RangeTable& table, RegionWhere where, std::vector<HostState>& out) {
    std::vector<bool> seen(timeline.names.size(), false);
    for (const model::NameId name : table.name) {
      if (seen[name]) continue;
      seen[name] = true;
      out[name] = region_of_name(timeline.name(name), where);
    }
  };
  fill(timeline.annotations, RegionWhere::kAnnotation, annotation_state_);
  fill(timeline.python, RegionWhere::kPython, python_state_);
}

const HostSegments& HostStates::of(model::ThreadId id) {
  std::optional<HostSegments>& slot = by_thread_[id];
  if (slot) return *slot;
  const model::Thread& thread = timeline_.threads[id];
  Layer annotations;
  add_innermost(timeline_.annotations, thread.annotations, annotation_state_, annotations);
  Layer python;
  add_innermost(timeline_.python, thread.python, python_state_, python);
  Layer inferred;
  if (regions_ == Regions::kWithInferred && id == timeline_.main_thread) {
    for (const model::InferredRegion& region : analysis_.pauses.inferred) {
      inferred.push_back({region.span.start, region.span.end, state_of_cause(region.cause)});
    }
  }
  const CallLayers calls = call_layers(timeline_, analysis_, thread);
  Layer issuing;
  add_issuing(timeline_.annotations, thread.annotations, annotation_state_, issuing);
  const auto flat = flatten<HostState>(
      {&annotations, &python, &inferred, &calls.alloc, &calls.blocked, &calls.issue, &issuing});
  HostSegments segments;
  segments.reserve(flat.size());
  for (const auto& part : flat) {
    if (!segments.empty() && segments.back().end == part.start &&
        segments.back().state == part.label) {
      segments.back().end = part.end;
    } else {
      segments.push_back({part.start, part.end, part.label});
    }
  }
  slot = std::move(segments);
  return *slot;
}

}  // namespace pyrometer::analysis

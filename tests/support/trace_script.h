// Small timelines for tests of passes, written as a list of events.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/kernel_classes.h"
#include "analysis/kernels.h"
#include "analysis/steps.h"
#include "model/analysis.h"
#include "model/timeline_builder.h"

namespace pyrometer::testing {

// A timeline with what the passes made of it.
struct Analysed {
  model::RankTimeline timeline;
  model::RankAnalysis analysis;

  [[nodiscard]] double fact(model::FactId id) const {
    return analysis.facts.value(id).value_or(-12345);  // no fact of a test has this value
  }
  [[nodiscard]] bool missing(model::FactId id) const { return !analysis.facts.has(id); }
  [[nodiscard]] std::string_view name(model::NameId id) const { return timeline.name(id); }
};

// Times are ns. Everything is on thread "1" of process 1 and on device 0 unless said otherwise.
class TraceScript {
 public:
  TraceScript() : main_(builder_.thread(1, "1")) { (void)builder_.device(0); }

  [[nodiscard]] model::TimelineBuilder& builder() { return builder_; }
  [[nodiscard]] model::ThreadId thread(std::string_view tid) { return builder_.thread(1, tid); }
  [[nodiscard]] model::NameId name(std::string_view text) {
    return builder_.timeline().names.intern(text);
  }

  TraceScript& step(int number, model::TimeNs start, model::TimeNs end) {
    return note("ProfilerStep#" + std::to_string(number), start, end);
  }
  TraceScript& note(std::string_view text, model::TimeNs start, model::TimeNs end) {
    builder_.add_annotation(start, end, name(text), main_);
    return *this;
  }
  TraceScript& op(std::string_view text, model::TimeNs start, model::TimeNs end,
                  std::string_view tid = "1", std::string_view shapes = "") {
    builder_.add_host_op(start, end, name(text), builder_.thread(1, tid), name(shapes));
    return *this;
  }
  TraceScript& call(std::string_view text, model::TimeNs start, model::TimeNs end,
                    std::uint64_t correlation = 0, std::string_view tid = "1") {
    builder_.add_api_call(start, end, name(text), builder_.thread(1, tid), correlation);
    return *this;
  }
  TraceScript& kernel(std::string_view text, model::TimeNs start, model::TimeNs end,
                      std::uint64_t correlation = 0, std::int32_t stream = 7,
                      std::int32_t device = 0, model::Index config = model::kNone) {
    builder_.add_activity(model::ActivityKind::kKernel, start, end, name(text),
                          builder_.device(device), stream, correlation, model::CopyKind::kNotCopy,
                          model::HostMemory::kUnknown, config);
    return *this;
  }
  TraceScript& copy(model::CopyKind kind, model::HostMemory host, std::int64_t bytes,
                    model::TimeNs start, model::TimeNs end, std::uint64_t correlation = 0,
                    std::int32_t stream = 7) {
    builder_.timeline().copy_bytes.push_back(bytes);
    const auto detail = static_cast<model::Index>(builder_.timeline().copy_bytes.size() - 1);
    builder_.add_activity(model::ActivityKind::kCopy, start, end, name("Memcpy"),
                          builder_.device(0), stream, correlation, kind, host, detail);
    return *this;
  }
  TraceScript& memset(model::TimeNs start, model::TimeNs end, std::uint64_t correlation = 0) {
    builder_.add_activity(model::ActivityKind::kMemset, start, end, name("Memset (Device)"),
                          builder_.device(0), 7, correlation, model::CopyKind::kD2D);
    return *this;
  }
  TraceScript& memory(model::TimeNs time, std::int64_t allocated, std::int64_t reserved) {
    model::MemoryTable& table = builder_.timeline().memory;
    table.time.push_back(time);
    table.bytes.push_back(1);
    table.total_allocated.push_back(allocated);
    table.total_reserved.push_back(reserved);
    table.device.push_back(0);
    return *this;
  }
  // A row of kernel_configs with what the passes look at.
  [[nodiscard]] model::Index config(std::uint32_t blocks, std::int32_t registers, float occupancy) {
    model::KernelConfig config;
    config.grid[0] = blocks;
    config.grid[1] = config.grid[2] = 1;
    config.block[0] = 128;
    config.block[1] = config.block[2] = 1;
    config.registers_per_thread = registers;
    config.occupancy_pct = occupancy;
    auto& configs = builder_.timeline().kernel_configs;
    configs.push_back(config);
    return static_cast<model::Index>(configs.size() - 1);
  }

  // Builds the timeline, runs `classes`, `steps` and `kernels`, and then the given passes.
  template <typename... Passes>
  [[nodiscard]] Analysed run(Passes... passes) {
    Analysed result;
    result.timeline = builder_.finish();
    analysis::classify_names(result.timeline, result.analysis);
    analysis::find_steps(result.timeline, result.analysis);
    analysis::tabulate_kernels(result.timeline, result.analysis);
    (passes(result.timeline, result.analysis), ...);
    return result;
  }

 private:
  model::TimelineBuilder builder_;
  model::ThreadId main_;
};

}  // namespace pyrometer::testing

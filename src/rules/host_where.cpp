#include "rules/host_where.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "model/host_lines.h"
#include "rules/build.h"

namespace pyrometer::rules {
namespace {

struct Phases {
  std::string_view finding;
  std::vector<std::string_view> phases;  // see HostLine::phase
  std::string_view doing;                // completes "of the samples …"
};

// input.bound is not among them: with workers the training thread merely waits.
const std::vector<Phases>& all_phases() {
  static const std::vector<Phases> kAll = {
      {"input.serial_loader", {"input"}, "while loading"},
      {"launch.host_code", {"host"}, "between the calls of the framework"},
      {"launch.bound", {"forward", "optimizer", "host"}, "while launching"},
      {"pauses.checkpoint", {"checkpoint"}, "while saving"},
  };
  return kAll;
}

constexpr std::size_t kMost = 3;
constexpr double kWorth = 0.1;

// A run of the finding's ranks.
const model::RecordedRun* run_of(const Context& context, const model::Finding& finding) {
  const auto& ranks = context.timeline().ranks;
  const auto rank = std::find_if(ranks.begin(), ranks.end(), [&](const auto& one) {
    return one.run != nullptr &&
           (finding.ranks.empty() || std::find(finding.ranks.begin(), finding.ranks.end(),
                                               one.info.rank) != finding.ranks.end());
  });
  return rank == ranks.end() ? nullptr : rank->run.get();
}

void add_blocking_lines(const model::RecordedRun& run, model::Finding& finding) {
  double all = 0;
  for (const model::BlockingLine& call : run.blocking_lines) all += static_cast<double>(call.total);
  std::size_t added = 0;
  for (const model::BlockingLine& call : run.blocking_lines) {
    const double share = all > 0 ? static_cast<double>(call.total) / all : 0;
    if (added == kMost || share < kWorth) break;
    if (call.line == "-") continue;
    finding.where.push_back(
        fmt::format("{} {} ({} of the time in such calls)", call.line, call.call, percent(share)));
    ++added;
  }
}

}  // namespace

void add_host_lines(const Context& context, model::Finding& finding) {
  if (finding.id == "sync.blocking_calls") {
    const model::RecordedRun* run = run_of(context, finding);
    if (run != nullptr) add_blocking_lines(*run, finding);
    return;
  }
  const auto known = std::find_if(all_phases().begin(), all_phases().end(),
                                  [&](const Phases& one) { return one.finding == finding.id; });
  if (known == all_phases().end() || !finding.where.empty()) return;
  const model::RecordedRun* run = run_of(context, finding);
  if (run == nullptr) return;
  std::vector<model::HostLine> lines = model::host_lines_of(*run);
  std::erase_if(lines, [&](const model::HostLine& line) {
    return line.line == "-" ||
           std::find(known->phases.begin(), known->phases.end(), line.phase) == known->phases.end();
  });
  std::int64_t samples = 0;
  for (const model::HostLine& line : lines) samples += line.samples;
  constexpr std::int64_t kEnough = 20;  // a second's worth
  if (samples < kEnough) return;
  for (const model::HostLine& line : lines) {
    const double share = static_cast<double>(line.samples) / static_cast<double>(samples);
    if (finding.where.size() == kMost || share < kWorth) break;
    finding.where.push_back(
        fmt::format("{} ({} of the samples {})", line.line, percent(share), known->doing));
  }
}

}  // namespace pyrometer::rules

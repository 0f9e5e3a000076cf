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

}  // namespace

void add_host_lines(const Context& context, model::Finding& finding) {
  const auto known = std::find_if(all_phases().begin(), all_phases().end(),
                                  [&](const Phases& one) { return one.finding == finding.id; });
  if (known == all_phases().end() || !finding.where.empty()) return;
  const auto& ranks = context.timeline().ranks;
  const auto rank = std::find_if(ranks.begin(), ranks.end(), [&](const auto& one) {
    return one.run != nullptr &&
           (finding.ranks.empty() || std::find(finding.ranks.begin(), finding.ranks.end(),
                                               one.info.rank) != finding.ranks.end());
  });
  if (rank == ranks.end()) return;
  std::vector<model::HostLine> lines = model::host_lines_of(*rank->run);
  std::erase_if(lines, [&](const model::HostLine& line) {
    return line.line == "-" ||
           std::find(known->phases.begin(), known->phases.end(), line.phase) == known->phases.end();
  });
  std::int64_t samples = 0;
  for (const model::HostLine& line : lines) samples += line.samples;
  constexpr std::int64_t kEnough = 20;  // a second's worth
  constexpr std::size_t kMost = 3;
  constexpr double kWorth = 0.1;
  if (samples < kEnough) return;
  for (const model::HostLine& line : lines) {
    const double share = static_cast<double>(line.samples) / static_cast<double>(samples);
    if (finding.where.size() == kMost || share < kWorth) break;
    finding.where.push_back(
        fmt::format("{} ({} of the samples {})", line.line, percent(share), known->doing));
  }
}

}  // namespace pyrometer::rules

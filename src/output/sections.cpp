#include "output/sections.h"

namespace pyrometer::output {

std::vector<Section> detail_sections(const Report& report, const SectionStyle& style) {
  std::vector<Section> all;
  add_rank_waterfalls(report, style, all);
  if (!report.job.ranks.empty()) {
    add_steps(report, style, all);
    add_input(report, all);
    add_kernels(report, style, all);
    add_operators(report, style, all);
    add_launches(report, style, all);
    add_transfers(report, style, all);
    add_communication(report, style, all);
    add_memory(report, style, all);
    add_patterns(report, style, all);
  }
  std::erase_if(all, [](const Section& section) { return section.empty(); });
  return all;
}

}  // namespace pyrometer::output

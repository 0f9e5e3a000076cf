// Prints a report on a hand-made job: render_sample FORMAT SAMPLE [WIDTH [OPTION…]]
// SAMPLE: one, four, healthy, hostile, empty, host, recorded, running. OPTION: price, verbose,
// color, ascii.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "output/registry.h"
#include "tests/support/sample_analysis.h"

namespace {

using pyrometer::testing::SampleJob;

SampleJob job_named(std::string_view name) {
  using pyrometer::testing::sample_job;
  if (name == "four") return sample_job({.ranks = 4});
  if (name == "healthy") return sample_job({.findings = false});
  if (name == "hostile") return sample_job({.ranks = 2, .hostile = true});
  if (name == "empty") return pyrometer::testing::empty_job();
  if (name == "recorded") return pyrometer::testing::recorded_job();
  if (name == "running") return pyrometer::testing::running_job();
  if (name == "host") return pyrometer::testing::host_only_job();
  return sample_job();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace pyrometer;  // a test program of one page
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) return 2;
  const output::Format* format = output::find_format(words[0]);
  if (format == nullptr) return 2;
  const SampleJob sample = job_named(words[1]);
  output::TextStyle style;
  std::optional<cost::Price> price;
  cost::Assumptions assumptions;
  if (words.size() > 2) style.width = std::atoi(words[2].c_str());
  for (std::size_t i = 3; i < words.size(); ++i) {
    if (words[i] == "price") {
      price = cost::Price{2.5, "--price"};
      assumptions = {.pue = 1.2,
                     .pue_source = "made up, 2026",
                     .grid_g_per_kwh = 350,
                     .grid_source = "made up, 2025",
                     .flops_per_sample = 1e10,
                     .flops_source = "as --flops-per-sample says",
                     .tokens_per_sample = 100};
    }
    if (words[i] == "verbose") style.verbose = true;
    if (words[i] == "color") style.color = true;
    if (words[i] == "ascii") style.unicode = false;
  }
  const std::string text = output::render(
      *format, {sample.timeline, sample.job, sample.diagnosis, price, {}, assumptions}, style);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}

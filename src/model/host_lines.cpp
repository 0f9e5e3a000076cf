#include "model/host_lines.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace pyrometer::model {
namespace {

struct Sample {
  std::string_view phase, line, innermost;
};

// "stack <phase> <user's line> | <innermost line>", as python/pyrometer_hook/sampler.py writes it.
// False for other texts: a recording may come from anyone.
bool parse(std::string_view text, Sample& sample) {
  constexpr std::string_view kPrefix = "stack ";
  constexpr std::string_view kBetween = " | ";
  if (!text.starts_with(kPrefix)) return false;
  text.remove_prefix(kPrefix.size());
  const std::size_t phase = text.find(' ');
  const std::size_t between = text.rfind(kBetween);
  if (phase == text.npos || between == text.npos || between <= phase) return false;
  sample.phase = text.substr(0, phase);
  sample.line = text.substr(phase + 1, between - phase - 1);
  sample.innermost = text.substr(between + kBetween.size());
  return true;
}

}  // namespace

std::string why_no_host_lines(const RecordedRun& run) {
  if (!run.host_lines.empty()) return {};
  const auto told = run.info.find("hook.sampler");
  if (told == run.info.end()) return "its Python stack was not sampled";
  constexpr std::string_view kOff = "off: ";
  const std::string_view text = told->second;
  return std::string(text.starts_with(kOff) ? text.substr(kOff.size()) : text);
}

std::vector<HostLine> host_lines_of(const RecordedRun& run) {
  struct Sum {
    std::int64_t samples = 0, most = 0;
    std::string_view innermost;
  };
  std::map<std::pair<std::string_view, std::string_view>, Sum> sums;
  std::int64_t all = 0;
  for (const auto& [text, samples] : run.host_lines) {
    Sample sample;
    if (samples <= 0 || !parse(text, sample)) continue;
    Sum& sum = sums[{sample.phase, sample.line}];
    sum.samples += samples;
    all += samples;
    if (samples > sum.most) {
      sum.most = samples;
      sum.innermost = sample.innermost;
    }
  }
  std::vector<HostLine> lines;
  for (const auto& [key, sum] : sums) {
    lines.push_back({.phase = std::string(key.first),
                     .line = std::string(key.second),
                     .innermost = std::string(sum.innermost),
                     .samples = sum.samples,
                     .share = static_cast<double>(sum.samples) / static_cast<double>(all)});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const HostLine& a, const HostLine& b) { return a.samples > b.samples; });
  return lines;
}

}  // namespace pyrometer::model

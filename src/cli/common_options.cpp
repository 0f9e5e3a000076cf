#include "cli/common_options.h"

#include <algorithm>
#include <utility>

#include "cli/field_list.h"
#include "cli/values.h"
#include "sources/replay/scripted_source.h"

namespace pyrometer::cli {
namespace {

// Numbers, UUIDs or their beginnings, PCI addresses.
std::string parse_gpus(const std::string& text, std::vector<std::string>& gpus) {
  gpus.clear();
  for (std::string& word : split_list(text)) {
    const bool is_number =
        !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
    const auto colons = std::ranges::count(word, ':');
    if (!is_number && colons == 0 && !word.starts_with("GPU-") && !word.starts_with("MIG-") &&
        !word.starts_with("NPU-")) {
      return "is no GPU: give numbers, UUIDs or PCI addresses, separated by commas";
    }
    if (colons == 1) word.insert(0, "0000:");
    gpus.push_back(std::move(word));
  }
  return {};
}

std::string take_script(base::Result<sources::replay::Script> script,
                        std::shared_ptr<const sources::StandIn>& target) {
  if (!script) return "is no script of a fleet: " + script.error().to_string();
  target = std::make_shared<sources::StandIn>(sources::replay::stand_in(std::move(*script)));
  return {};
}

}  // namespace

Option config_option(std::string& target) {
  return {.long_name = "config",
          .value = "FILE",
          .help = "read defaults from FILE instead of ~/.config/pyrometer/config.toml",
          .set = set_text(target),
          .completes = Completes::kFiles,
          .tier = Tier::kAdvanced};
}

Option gpu_option(std::vector<std::string>& target) {
  return {.short_name = 'i',
          .long_name = "gpu",
          .value = "GPUS",
          .help =
              "only these: numbers, UUIDs or their beginnings, PCI addresses, separated by "
              "commas",
          .set = [&target](const std::string& value) { return parse_gpus(value, target); }};
}

Option arguments_option(bool& target) {
  return {.long_name = "args",
          .help = "show the arguments of processes, which may hold secrets",
          .set = set_true(target)};
}

Option root_option(std::string& target) {
  return {.long_name = "root",
          .value = "DIR",
          .help =
              "read /proc, /sys and /etc/passwd below DIR: for a container that has the host's "
              "there",
          .set =
              [&target](const std::string& value) {
                target = value;
                while (target.ends_with('/')) target.pop_back();
                return std::string{value.empty() ? "is empty" : ""};
              },
          .completes = Completes::kFiles,
          .tier = Tier::kAdvanced};
}

std::vector<Option> demo_options(std::shared_ptr<const sources::StandIn>& target) {
  std::vector<Option> options;
  options.push_back({.long_name = "demo",
                     .help = "show a made-up fleet instead of this machine's GPUs",
                     .set = [&target](const std::string&) {
                       return take_script(
                           sources::replay::parse_script(sources::replay::demo_script(), "demo"),
                           target);
                     }});
  options.push_back({.long_name = "demo-script",
                     .value = "FILE",
                     .help = "show the made-up fleet that FILE describes",
                     .set =
                         [&target](const std::string& value) {
                           return take_script(sources::replay::read_script(value), target);
                         },
                     .completes = Completes::kFiles,
                     .tier = Tier::kAdvanced});
  return options;
}

}  // namespace pyrometer::cli

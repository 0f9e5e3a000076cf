// Options that several commands have.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/command.h"
#include "sources/stand_in.h"

namespace pyrometer::cli {

// --config FILE, instead of the user's own.
[[nodiscard]] Option config_option(std::string& target);

// -i, --gpu GPUS: numbers, UUIDs or their beginnings, PCI addresses.
[[nodiscard]] Option gpu_option(std::vector<std::string>& target);
// --args: arguments of processes.
[[nodiscard]] Option arguments_option(bool& target);
// --root DIR, without a slash at the end.
[[nodiscard]] Option root_option(std::string& target);
// --demo: a made-up fleet instead of this machine's GPUs; --demo-script FILE: another one.
[[nodiscard]] std::vector<Option> demo_options(std::shared_ptr<const sources::StandIn>& target);

}  // namespace pyrometer::cli

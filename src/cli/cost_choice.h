// Options about money, which several commands have, and what they make of the config file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/config_file.h"
#include "cost/settings.h"

namespace pyrometer::cli {

inline constexpr std::string_view kPriceRange =
    "a number from 0.001 to 100000 (USD per GPU-hour), such as 2.50";

// As typed; an option that is not given leaves the config file's word.
struct CostChoice {
  std::optional<double> price;
  std::string prices, instance, region;
  bool spot = false;
};

[[nodiscard]] std::vector<Option> cost_options(CostChoice& choice);

// The words of a command line that say the same.
[[nodiscard]] std::vector<std::string> words_of(const CostChoice& choice);

// Reads the price file, where one is named. Errors are of kind kUsage.
[[nodiscard]] base::Result<cost::Settings> cost_settings(const CostChoice& choice,
                                                         const Config& config);

}  // namespace pyrometer::cli

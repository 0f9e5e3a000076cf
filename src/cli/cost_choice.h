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
  std::optional<double> pue, grid, flops_per_sample, tokens_per_sample;
  std::string pue_year, grid_year;  // "" where none was given
};

// What makes sense of these; config keys have the same limits.
struct AmountRange {
  double low, high;
  std::string_view what;
};
inline constexpr AmountRange kPueRange = {1, 10, "a number from 1 to 10, such as 1.2"};
inline constexpr AmountRange kGridRange = {0, 5000,
                                           "a number from 0 to 5000 (g CO2e per kWh), such as 350"};
inline constexpr AmountRange kFlopsRange = {1, 1e24, "a number from 1 to 1e24, such as 6.2e12"};
inline constexpr AmountRange kTokensRange = {1, 1e9, "a number from 1 to 1e9, such as 2048"};

// --price, --prices and what chooses in it.
[[nodiscard]] std::vector<Option> cost_options(CostChoice& choice);
// What energy, carbon and efficiency follow from.
[[nodiscard]] std::vector<Option> economy_options(CostChoice& choice);

// The words of a command line that say the same.
[[nodiscard]] std::vector<std::string> words_of(const CostChoice& choice);

// Reads the price file, where one is named. Errors are of kind kUsage.
[[nodiscard]] base::Result<cost::Settings> cost_settings(const CostChoice& choice,
                                                         const Config& config);

}  // namespace pyrometer::cli

// The user's config file: defaults that should not have to be typed each time.
//
// docs/reference/configuration.md lists its keys.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "cost/assumptions.h"
#include "cost/price_table.h"
#include "rules/rule.h"

namespace pyrometer::cli {

struct Config {
  std::string path;                          // "" when there is no file
  std::optional<double> price_per_gpu_hour;  // USD
  std::string prices_file;                   // as written: from the config file's folder on
  cost::PriceChoice price_choice;            // in that file
  cost::Assumptions assumptions;             // [energy] and [efficiency]
  rules::Settings rules;                     // thresholds and findings, each in the catalog
};

// $XDG_CONFIG_HOME/pyrometer/config.toml, else ~/.config/pyrometer/config.toml; "" without a home.
[[nodiscard]] std::string default_config_path();

// Reads `path`. A key, threshold or finding that does not exist is an error, as is a value of the
// wrong type: a misspelt threshold would otherwise go unnoticed. Errors are of kind kUsage and name
// file and line.
[[nodiscard]] base::Result<Config> read_config(const std::string& path);
// Reads the default file; an empty Config where there is none.
[[nodiscard]] base::Result<Config> read_default_config();

}  // namespace pyrometer::cli

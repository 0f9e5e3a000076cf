#include "cli/common_options.h"

#include <utility>

#include "cli/price_range.h"
#include "cli/values.h"

namespace pyrometer::cli {

Option price_option(std::optional<double>& target, std::string help) {
  return {.long_name = "price",
          .value = "USD",
          .help = std::move(help),
          .set = set_amount(target, kLowestPrice, kHighestPrice, std::string(kPriceRange))};
}

Option config_option(std::string& target) {
  return {.long_name = "config",
          .value = "FILE",
          .help = "read defaults from FILE instead of ~/.config/pyrometer/config.toml",
          .set = set_text(target),
          .completes = Completes::kFiles,
          .tier = Tier::kAdvanced};
}

}  // namespace pyrometer::cli

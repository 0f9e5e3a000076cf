#include "cli/cost_choice.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "cli/values.h"

namespace pyrometer::cli {

std::vector<Option> cost_options(CostChoice& choice) {
  std::vector<Option> options;
  options.push_back(
      {.long_name = "price",
       .value = "USD",
       .help = "price of one GPU for one hour; without it, or a price in the config file, shares "
               "only",
       .set = set_amount(choice.price, cost::kLowestPrice, cost::kHighestPrice,
                         std::string(kPriceRange))});
  options.push_back({.long_name = "prices",
                     .value = "FILE",
                     .help = "look the price up in FILE: gpu,usd_per_hour, or a table of instances",
                     .set = set_text(choice.prices),
                     .completes = Completes::kFiles});
  options.push_back({.long_name = "instance",
                     .value = "TYPE",
                     .help = "the instance in the price file; its price is shared among its GPUs",
                     .set = set_text(choice.instance),
                     .tier = Tier::kAdvanced});
  options.push_back({.long_name = "region",
                     .value = "NAME",
                     .help = "the region or zone in the price file",
                     .set = set_text(choice.region),
                     .tier = Tier::kAdvanced});
  options.push_back({.long_name = "spot",
                     .help = "take the price file's spot price",
                     .set = set_true(choice.spot),
                     .tier = Tier::kAdvanced});
  return options;
}

std::vector<std::string> words_of(const CostChoice& choice) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, const std::string& value) {
    if (value.empty()) return;
    words.emplace_back(option);
    words.push_back(value);
  };
  if (choice.price) add("--price", fmt::format("{}", *choice.price));
  add("--prices", choice.prices);
  add("--instance", choice.instance);
  add("--region", choice.region);
  if (choice.spot) words.emplace_back("--spot");
  return words;
}

base::Result<cost::Settings> cost_settings(const CostChoice& choice, const Config& config) {
  const auto wrong = [](std::string message) {
    return base::fail(base::Error{.kind = base::ErrorKind::kUsage, .message = std::move(message)});
  };
  cost::Settings settings;
  const bool chooses = !choice.instance.empty() || !choice.region.empty() || choice.spot;
  if (choice.price && (!choice.prices.empty() || chooses)) {
    return wrong("--price says the price itself: leave --prices and what chooses in it out");
  }
  if (choice.price) {
    settings.price = cost::Price{.usd_per_gpu_hour = *choice.price, .source = "--price"};
    return settings;
  }
  if (config.price_per_gpu_hour && choice.prices.empty() && !chooses) {
    settings.price =
        cost::Price{.usd_per_gpu_hour = *config.price_per_gpu_hour, .source = config.path};
    return settings;
  }
  std::string file = choice.prices;
  if (file.empty() && !config.prices_file.empty()) {
    // A path in a file is meant from where that file lies.
    file = (std::filesystem::path(config.path).parent_path() / config.prices_file)
               .lexically_normal()
               .string();
  }
  if (file.empty()) {
    return chooses ? wrong("--instance, --region and --spot choose in a price file: add --prices")
                   : base::Result<cost::Settings>(settings);
  }
  auto table = cost::PriceTable::read(file);
  if (!table) return base::fail(table.error());
  settings.prices = std::make_shared<const cost::PriceTable>(std::move(*table));
  settings.choice = config.price_choice;
  if (!choice.instance.empty()) settings.choice.instance = choice.instance;
  if (!choice.region.empty()) settings.choice.region = choice.region;
  if (choice.spot) settings.choice.spot = true;
  return settings;
}

}  // namespace pyrometer::cli

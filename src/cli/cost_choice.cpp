#include "cli/cost_choice.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

#include "cli/values.h"

namespace pyrometer::cli {
namespace {

std::string source_of(std::string_view option, const std::string& year) {
  return fmt::format("{}, {}", option, year.empty() ? "year not given" : year);
}

// "350" or "350@2024".
Setter set_figure_of_year(std::optional<double>& target, std::string& year,
                          const AmountRange& range) {
  const Setter set = set_amount(target, range.low, range.high, std::string(range.what));
  return [&year, set, what = range.what](const std::string& value) -> std::string {
    const std::size_t at = value.find('@');
    std::string given = at == value.npos ? "" : value.substr(at + 1);
    constexpr std::size_t kDigits = 4;
    if (at != value.npos &&
        (given.size() != kDigits || given.find_first_not_of("0123456789") != given.npos)) {
      return fmt::format("is not {}, or the same with its year, such as {}@2024", what,
                         value.substr(0, at));
    }
    if (std::string error = set(value.substr(0, at)); !error.empty()) return error;
    year = std::move(given);
    return {};
  };
}

cost::Assumptions assumptions_of(const CostChoice& choice, const Config& config) {
  cost::Assumptions all = config.assumptions;
  if (choice.flops_per_sample) {
    all.flops_per_sample = choice.flops_per_sample;
    all.flops_source = "as --flops-per-sample says";
  }
  if (choice.tokens_per_sample) all.tokens_per_sample = choice.tokens_per_sample;
  if (choice.pue) {
    all.pue = choice.pue;
    all.pue_source = source_of("--pue", choice.pue_year);
  }
  if (choice.grid) {
    all.grid_g_per_kwh = choice.grid;
    all.grid_source = source_of("--grid-intensity", choice.grid_year);
  }
  return all;
}

}  // namespace

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

std::vector<Option> economy_options(CostChoice& choice) {
  std::vector<Option> options;
  const auto amount = [](std::optional<double>& target, const AmountRange& range) {
    return set_amount(target, range.low, range.high, std::string(range.what));
  };
  options.push_back({.long_name = "flops-per-sample",
                     .value = "N",
                     .help = "FLOPs of one sample, forward and backward, for MFU",
                     .set = amount(choice.flops_per_sample, kFlopsRange),
                     .tier = Tier::kAdvanced});
  options.push_back({.long_name = "tokens-per-sample",
                     .value = "N",
                     .help = "tokens of one sample, for tokens per second",
                     .set = amount(choice.tokens_per_sample, kTokensRange),
                     .tier = Tier::kAdvanced});
  options.push_back({.long_name = "pue",
                     .value = "X[@YEAR]",
                     .help = "energy of the data centre for each unit that its computers use",
                     .set = set_figure_of_year(choice.pue, choice.pue_year, kPueRange),
                     .tier = Tier::kAdvanced});
  options.push_back({.long_name = "grid-intensity",
                     .value = "G[@YEAR]",
                     .help = "carbon intensity of the grid, g CO2e per kWh; without it no carbon",
                     .set = set_figure_of_year(choice.grid, choice.grid_year, kGridRange),
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
  const auto add_amount = [&](const char* option, const std::optional<double>& amount) {
    if (amount) add(option, fmt::format("{}", *amount));
  };
  add_amount("--flops-per-sample", choice.flops_per_sample);
  add_amount("--tokens-per-sample", choice.tokens_per_sample);
  const auto add_figure = [&](const char* option, const std::optional<double>& figure,
                              const std::string& year) {
    if (figure) add(option, fmt::format("{}{}{}", *figure, year.empty() ? "" : "@", year));
  };
  add_figure("--pue", choice.pue, choice.pue_year);
  add_figure("--grid-intensity", choice.grid, choice.grid_year);
  return words;
}

base::Result<cost::Settings> cost_settings(const CostChoice& choice, const Config& config) {
  const auto wrong = [](std::string message) {
    return base::fail(base::Error{.kind = base::ErrorKind::kUsage, .message = std::move(message)});
  };
  cost::Settings settings;
  settings.assumptions = assumptions_of(choice, config);
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

#include "cli/config_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/toml.h"
#include "cli/cost_choice.h"
#include "cli/message.h"
#include "cli/text.h"
#include "rules/catalog.h"

namespace pyrometer::cli {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

constexpr std::size_t kMostBytes = 1'000'000;

Error error_at(const std::string& path, const toml::source_region& where, std::string message) {
  return {.kind = ErrorKind::kUsage,
          .message = std::move(message),
          .file = path + ":" + std::to_string(where.begin.line)};
}

std::string similar(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string meant = closest(word, candidates);
  return meant.empty() ? "" : " (did you mean \"" + meant + "\"?)";
}

std::vector<std::string> threshold_names() {
  std::vector<std::string> names;
  for (const rules::ThresholdInfo& info : rules::threshold_catalog()) {
    names.push_back(std::string(info.finding) + "." + std::string(info.name));
  }
  return names;
}

std::vector<std::string> finding_ids() {
  std::vector<std::string> ids;
  for (const rules::FindingInfo& info : rules::finding_catalog()) ids.emplace_back(info.id);
  return ids;
}

std::optional<double> number(const toml::node& node) {
  if (const auto whole = node.value_exact<std::int64_t>()) return static_cast<double>(*whole);
  const std::optional<double> value = node.value_exact<double>();
  return value && std::isfinite(*value) ? value : std::nullopt;
}

// Reads tables into a Config; the first mistake ends it.
class Reader {
 public:
  explicit Reader(const std::string& path) { config_.path = path; }

  Result<Config> read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      if (key == "price_per_gpu_hour") {
        read_price(node);
      } else if (key == "prices") {
        read_prices(node);
      } else if (key == "energy") {
        read_energy(node);
      } else if (key == "efficiency") {
        read_efficiency(node);
      } else if (key == "thresholds") {
        read_thresholds(node);
      } else if (key == "rules") {
        read_rules(node);
      } else {
        wrong(node, "unknown key '" + std::string(key.str()) + "'");
      }
    }
    if (error_) return base::fail(std::move(*error_));
    return std::move(config_);
  }

 private:
  void wrong(const toml::node& node, std::string message) {
    if (!error_) error_ = error_at(config_.path, node.source(), std::move(message));
  }

  void read_price(const toml::node& node) {
    config_.price_per_gpu_hour = number(node);
    const double price = config_.price_per_gpu_hour.value_or(0);
    if (price < cost::kLowestPrice || price > cost::kHighestPrice) {
      wrong(node, "price_per_gpu_hour is not " + std::string(kPriceRange));
    }
  }

  void read_prices(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return wrong(node, "prices is not a table");
    const auto text = [&](const toml::node& value, std::string_view key, std::string& target) {
      target = value.value_exact<std::string>().value_or("");
      if (target.empty()) wrong(value, std::string(key) + " is not a text in quotes");
    };
    for (const auto& [key, value] : *table) {
      if (key == "file") {
        text(value, "prices.file", config_.prices_file);
      } else if (key == "instance") {
        text(value, "prices.instance", config_.price_choice.instance);
      } else if (key == "region") {
        text(value, "prices.region", config_.price_choice.region);
      } else if (key == "spot") {
        const std::optional<bool> spot = value.value_exact<bool>();
        if (!spot) wrong(value, "prices.spot is neither true nor false");
        config_.price_choice.spot = spot.value_or(false);
      } else {
        wrong(value, "unknown key 'prices." + std::string(key.str()) + "'");
      }
    }
    if (config_.prices_file.empty()) wrong(node, "[prices] names no file");
    if (config_.price_per_gpu_hour) {
      wrong(node, "price_per_gpu_hour and [prices] both give the price");
    }
  }

  std::optional<double> amount(const toml::node& value, const std::string& name,
                               const AmountRange& range) {
    const std::optional<double> read = number(value);
    if (!read || !(*read >= range.low && *read <= range.high)) {
      wrong(value, name + " is not " + std::string(range.what));
    }
    return read;
  }

  // A figure that everything else is multiplied by needs to say where and of when it is.
  void read_energy(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return wrong(node, "energy is not a table");
    cost::Assumptions& all = config_.assumptions;
    for (const auto& [key, value] : *table) {
      const std::string name = "energy." + std::string(key.str());
      if (key == "pue") {
        all.pue = amount(value, name, kPueRange);
      } else if (key == "grid_intensity") {
        all.grid_g_per_kwh = amount(value, name, kGridRange);
      } else if (key == "pue_source" || key == "grid_source") {
        std::string& target = key == "pue_source" ? all.pue_source : all.grid_source;
        target = value.value_exact<std::string>().value_or("");
        if (target.empty()) wrong(value, name + " is not a text in quotes");
      } else if (key != "pue_year" && key != "grid_year") {
        wrong(value, "unknown key '" + name + "'");
      }
    }
    add_year(node, *table, "pue", all.pue, all.pue_source);
    add_year(node, *table, "grid", all.grid_g_per_kwh, all.grid_source);
  }

  void add_year(const toml::node& node, const toml::table& table, const std::string& what,
                const std::optional<double>& figure, std::string& source) {
    constexpr std::int64_t kFirst = 1990;
    constexpr std::int64_t kLast = 2100;
    const toml::node* value = table.get(what + "_year");
    const std::optional<std::int64_t> year =
        value == nullptr ? std::nullopt : value->value_exact<std::int64_t>();
    if (value != nullptr && !(year && *year >= kFirst && *year <= kLast)) {
      return wrong(*value, "energy." + what + "_year is no year");
    }
    if (figure && (source.empty() || !year)) {
      return wrong(node, "[energy] needs " + what + "_source and " + what +
                             "_year, which reports print beside what follows from them");
    }
    if (year) source += (source.empty() ? "" : ", ") + std::to_string(*year);
  }

  void read_efficiency(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return wrong(node, "efficiency is not a table");
    for (const auto& [key, value] : *table) {
      const std::string name = "efficiency." + std::string(key.str());
      if (key == "flops_per_sample") {
        config_.assumptions.flops_per_sample = amount(value, name, kFlopsRange);
        config_.assumptions.flops_source = "as " + config_.path + " says";
      } else if (key == "tokens_per_sample") {
        config_.assumptions.tokens_per_sample = amount(value, name, kTokensRange);
      } else {
        wrong(value, "unknown key '" + name + "'");
      }
    }
  }

  void read_thresholds(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return wrong(node, "thresholds is not a table");
    for (const auto& [key, value] : *table) {
      const std::string name(key.str());
      const std::string shown = "threshold \"" + name + "\"";
      // "a.b.c": finding a.b, threshold c.
      const std::size_t dot = std::min(name.rfind('.'), name.size());
      const std::string finding = name.substr(0, dot);
      const std::string own_name = name.substr(std::min(dot + 1, name.size()));
      const std::optional<double> threshold = number(value);
      if (value.is_table()) {
        wrong(value, shown + " is not a number; write the whole name in quotes");
      } else if (rules::find_threshold(finding, own_name) == nullptr) {
        wrong(value, shown + " does not exist" + similar(name, threshold_names()));
      } else if (!threshold) {
        wrong(value, shown + " is not a number");
      } else if (rules::find_threshold(finding, own_name)->unit == "fraction" &&
                 (*threshold < 0 || *threshold > 1)) {
        wrong(value, shown + " is a fraction: write 15% as 0.15");
      } else {
        config_.rules.thresholds[name] = *threshold;
      }
    }
  }

  void read_rules(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) return wrong(node, "rules is not a table");
    for (const auto& [key, value] : *table) {
      const toml::array* list = value.as_array();
      if (key != "disabled" || list == nullptr) {
        wrong(value, "[rules] takes disabled = [\"finding.id\", ...] alone");
        continue;
      }
      for (const toml::node& entry : *list) {
        const std::optional<std::string> id = entry.value_exact<std::string>();
        if (!id) return wrong(entry, "disabled holds something that is not a finding id in quotes");
        if (rules::find_finding(*id) == nullptr) {
          return wrong(entry,
                       "finding \"" + *id + "\" does not exist" + similar(*id, finding_ids()));
        }
        config_.rules.disabled.insert(*id);
      }
    }
  }

  Config config_;
  std::optional<Error> error_;
};

}  // namespace

std::string default_config_path() {
  const char* xdg = std::getenv("XDG_CONFIG_HOME");
  if (xdg != nullptr && *xdg == '/') return std::string(xdg) + "/pyrometer/config.toml";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return {};
  return std::string(home) + "/.config/pyrometer/config.toml";
}

Result<Config> read_config(const std::string& path) {
  std::error_code unknown;
  const bool folder = std::filesystem::is_directory(path, unknown);
  std::ifstream file;
  if (!folder) file.open(path, std::ios::binary);  // reading a folder throws
  std::string text(file.is_open() ? kMostBytes + 1 : 0, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  if (!file.is_open() || file.bad()) {
    const int error = folder ? EISDIR : errno;
    return base::fail(Error{.kind = ErrorKind::kUsage,
                            .message = "cannot read the config file: " + system_error_text(error),
                            .file = path});
  }
  if (text.size() > kMostBytes) {
    return base::fail(Error{
        .kind = ErrorKind::kUsage, .message = "is no config file: larger than 1 MB", .file = path});
  }
  const toml::parse_result parsed = toml::parse(text, path);
  if (!parsed) {
    return base::fail(
        error_at(path, parsed.error().source(), std::string(parsed.error().description())));
  }
  return Reader(path).read(parsed.table());
}

Result<Config> read_default_config() {
  const std::string path = default_config_path();
  std::error_code ignored;
  if (path.empty() || !std::filesystem::exists(path, ignored)) return Config{};
  return read_config(path);
}

}  // namespace pyrometer::cli

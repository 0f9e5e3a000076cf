#include "cost/price_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "cost/csv_table.h"

namespace pyrometer::cost {
namespace {

using base::Error;
using base::ErrorKind;
using base::Result;

constexpr double kMostGpus = 10'000;

// Names of columns in one kind of table; "" where it has no such column.
struct Columns {
  std::string_view gpu, gpus, usd, spot_usd, instance, region, zone;
};
constexpr Columns kOwn = {"gpu",      "gpus",   "usd_per_hour", "spot_usd_per_hour",
                          "instance", "region", "zone"};
constexpr Columns kInstances = {"AcceleratorName", "AcceleratorCount", "Price",
                                "SpotPrice",       "InstanceType",     "Region",
                                "AvailabilityZone"};

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

bool is_whole(double number) { return number == std::floor(number); }

// Takes rows of a table; the first mistake ends it.
class RowReader {
 public:
  // Catalogs of instances list shares of a GPU as well, which are not for us to refuse unasked.
  RowReader(const CsvTable& table, const Columns& columns, std::string path, bool takes_shares)
      : table_(table), columns_(columns), path_(std::move(path)), takes_shares_(takes_shares) {}

  Result<PriceRow> read(const CsvRow& row) {
    PriceRow out{.line = row.line,
                 .gpu = cell(row, columns_.gpu),
                 .instance = cell(row, columns_.instance),
                 .region = cell(row, columns_.region),
                 .zone = cell(row, columns_.zone)};
    // Machines without GPUs stand in such tables, too.
    const bool has_gpus = !out.gpu.empty();
    if (!has_gpus && out.instance.empty()) wrong(row, "names neither a GPU nor an instance");
    const std::string count = cell(row, columns_.gpus);
    out.gpus = has_gpus ? 1 : 0;
    if (has_gpus && !count.empty()) {
      out.gpus = number(count).value_or(-1);
      if (!(out.gpus > 0 && out.gpus <= kMostGpus)) {
        wrong(row, fmt::format("{} '{}' is no number of GPUs", columns_.gpus, count));
      } else if (!takes_shares_ && !is_whole(out.gpus)) {
        wrong(row, fmt::format("{} '{}' is no whole number of GPUs", columns_.gpus, count));
      }
    }
    out.usd = price(row, columns_.usd, out.gpus);
    out.spot_usd = price(row, columns_.spot_usd, out.gpus);
    if (error_) return base::fail(std::move(*error_));
    return out;
  }

 private:
  void wrong(const CsvRow& row, std::string message) {
    if (!error_) {
      error_ = Error{.kind = ErrorKind::kUsage,
                     .message = std::move(message),
                     .file = path_ + ":" + std::to_string(row.line)};
    }
  }

  std::string cell(const CsvRow& row, std::string_view column) const {
    const int at = table_.column(column);
    return at < 0 ? std::string() : row.cells[static_cast<std::size_t>(at)];
  }

  // An empty cell is no price, not a price of zero.
  std::optional<double> price(const CsvRow& row, std::string_view column, double gpus) {
    const std::string text = cell(row, column);
    if (text.empty()) return std::nullopt;
    const std::optional<double> usd = number(text);
    if (!usd || *usd < 0) {
      wrong(row, fmt::format("{} '{}' is no price in USD", column, text));
      return std::nullopt;
    }
    if (gpus > 0 && !(*usd >= gpus * kLowestPrice && *usd <= gpus * kHighestPrice)) {
      wrong(row, fmt::format("{} {} for {:g} GPUs is beyond {:g} to {:g} USD per GPU-hour", column,
                             text, gpus, kLowestPrice, kHighestPrice));
    }
    return usd;
  }

  const CsvTable& table_;
  Columns columns_;
  std::string path_;
  bool takes_shares_;
  std::optional<Error> error_;
};

bool same_price(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(a, b); }

std::string list_of(const std::set<std::string>& words) {
  constexpr std::size_t kMost = 6;
  std::string text;
  std::size_t shown = 0;
  for (const std::string& word : words) {
    if (shown++ == kMost) return text + ", …";
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

}  // namespace

Result<PriceTable> PriceTable::read(const std::string& path) {
  constexpr std::size_t kMostBytes = 100'000'000;
  std::error_code unknown;
  const bool folder = std::filesystem::is_directory(path, unknown);
  std::ifstream file;
  if (!folder) file.open(path, std::ios::binary);
  if (!file.is_open()) {
    const int error = folder ? EISDIR : errno;
    return base::fail(
        Error{.kind = ErrorKind::kUsage,
              .message = std::string("cannot read the price file: ") + std::strerror(error),
              .file = path});
  }
  std::string text(kMostBytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  if (text.size() > kMostBytes) {
    return base::fail(Error{.kind = ErrorKind::kUsage,
                            .message = "is no price file: larger than 100 MB",
                            .file = path});
  }
  return parse(text, path);
}

Result<PriceTable> PriceTable::parse(std::string_view text, const std::string& path) {
  auto csv = parse_csv(text, path);
  if (!csv) return base::fail(csv.error());
  PriceTable table;
  table.path_ = path;
  table.by_instance_ = csv->column(kInstances.instance) >= 0;
  const Columns& columns = table.by_instance_ ? kInstances : kOwn;
  for (const std::string_view needed : {columns.gpu, columns.usd}) {
    if (csv->column(needed) >= 0) continue;
    return base::fail(Error{
        .kind = ErrorKind::kUsage,
        .message = fmt::format("has no column '{}'; a price file has gpu and usd_per_hour, or "
                               "InstanceType, AcceleratorName, AcceleratorCount and Price",
                               needed),
        .file = path + ":" + std::to_string(csv->header_line)});
  }
  for (const std::string_view used : {columns.gpu, columns.gpus, columns.usd, columns.spot_usd,
                                      columns.instance, columns.region, columns.zone}) {
    if (std::count(csv->header.begin(), csv->header.end(), used) < 2) continue;
    return base::fail(
        Error{.kind = ErrorKind::kUsage,
              .message = fmt::format("has the column '{}' more than once; which of them is meant "
                                     "cannot be told",
                                     used),
              .file = path + ":" + std::to_string(csv->header_line)});
  }
  RowReader reader(*csv, columns, path, table.by_instance_);
  for (const CsvRow& row : csv->rows) {
    auto read = reader.read(row);
    if (!read) return base::fail(read.error());
    table.rows_.push_back(std::move(*read));
  }
  return table;
}

Result<Price> PriceTable::find(const PriceChoice& choice,
                               const std::set<std::string>& gpu_names) const {
  const auto none = [&](std::string message) {
    return base::fail(
        Error{.kind = ErrorKind::kUsage, .message = std::move(message), .file = path_});
  };
  if (choice.instance.empty() && by_instance_) {
    return none("lists instances: name yours with --instance");
  }
  const PriceRow* first = nullptr;
  const PriceRow* other = nullptr;
  bool in_region = false;
  bool without_gpus = false;
  std::set<std::string> regions;
  std::set<std::string> found;  // of gpu_names
  const auto per_gpu = [&](const PriceRow& row) {
    return *(choice.spot ? row.spot_usd : row.usd) / row.gpus;
  };
  for (const PriceRow& row : rows_) {
    const bool by_name = choice.instance.empty();
    if (by_name ? !gpu_names.contains(row.gpu) : row.instance != choice.instance) continue;
    if (!choice.region.empty() && row.region != choice.region && row.zone != choice.region) {
      if (!row.region.empty()) regions.insert(row.region);
      continue;
    }
    in_region = true;
    without_gpus = without_gpus || row.gpus == 0;
    if (row.gpus == 0 || !(choice.spot ? row.spot_usd : row.usd)) continue;
    found.insert(row.gpu);
    if (!row.region.empty()) regions.insert(row.region);
    if (first == nullptr) first = &row;
    if (!same_price(per_gpu(row), per_gpu(*first))) other = &row;
  }
  const std::string what = choice.instance.empty() ? list_of(gpu_names) : choice.instance;
  const std::string where = choice.region.empty() ? "" : " in " + choice.region;
  if (first == nullptr) {
    if (without_gpus) return none(what + " has no GPUs");
    if (!in_region && !regions.empty()) {
      return none("has no price of " + what + where + "; it has " + list_of(regions));
    }
    return none("has no " + std::string(choice.spot ? "spot " : "") + "price of " +
                (what.empty() ? "a GPU whose name is not known" : what) + where);
  }
  if (choice.instance.empty() && found.size() < gpu_names.size()) {
    return none("has no price of some of the job's GPUs: " + list_of(gpu_names));
  }
  if (other != nullptr) {
    return none(fmt::format(
        "has several prices of {}{}, such as {:g} and {:g} USD per GPU-hour (lines {} and {}): {}",
        what, where, per_gpu(*first), per_gpu(*other), first->line, other->line,
        found.size() > 1     ? "the job's GPUs are of several kinds, give --price"
        : regions.size() > 1 ? "choose with --region, such as " + list_of(regions)
                             : "choose with --instance or --region"));
  }
  if (!is_whole(first->gpus)) {
    return none(
        fmt::format("{} (line {}) has {:g} of a GPU, whose price is that of no whole GPU: "
                    "give --price",
                    what, first->line, first->gpus));
  }
  const std::string shared =
      first->gpus == 1 ? "" : fmt::format(", shared among {:g} GPUs", first->gpus);
  return Price{per_gpu(*first), fmt::format("{}, line {}: {}{}{}{}", path_, first->line, what,
                                            where, choice.spot ? ", spot" : "", shared)};
}

}  // namespace pyrometer::cost

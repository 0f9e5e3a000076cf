// Price files: what GPUs, or machines with GPUs, cost per hour. Formats: docs/concepts/cost.md.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/price.h"

namespace pyrometer::cost {

// Prices that make sense, USD per GPU-hour. Beyond them, someone has mistaken the unit, or the
// number would print as nonsense.
inline constexpr double kLowestPrice = 0.001;
inline constexpr double kHighestPrice = 100'000;

struct PriceRow {
  std::int64_t line = 0;
  std::string gpu;       // name of the driver; of an instance table: what its makers call it
  std::string instance;  // "" where the row is of no instance
  std::string region, zone;
  // Of the instance; 0: it has none; below 1, in tables of instances alone: a share of one.
  double gpus = 1;
  std::optional<double> usd;       // per hour, of all its GPUs together; absent: not for sale so
  std::optional<double> spot_usd;  // the same, as spot
};

// Which row is meant.
struct PriceChoice {
  std::string instance;  // "" : by the GPU's name
  std::string region;    // of the row, or its zone; "": any
  bool spot = false;
};

class PriceTable {
 public:
  // Two kinds of table, told apart by their header: gpu, usd_per_hour (and gpus, instance, region,
  // spot_usd_per_hour), or InstanceType, AcceleratorName, AcceleratorCount, Price (and SpotPrice,
  // Region, AvailabilityZone and others), as SkyPilot's catalogs are. Errors are of kind kUsage,
  // kNotFound or kPermission; those of a row name file and line.
  [[nodiscard]] static base::Result<PriceTable> read(const std::string& path);
  [[nodiscard]] static base::Result<PriceTable> parse(std::string_view text,
                                                      const std::string& path);

  [[nodiscard]] const std::vector<PriceRow>& rows() const { return rows_; }

  // The price of one GPU-hour, an instance's shared equally among its GPUs. Without an instance, by
  // the exact names of the job's GPUs; an instance table cannot be asked so, since makers' names
  // are not the driver's. Errors say what would make the choice clear; a price is never guessed.
  [[nodiscard]] base::Result<Price> find(const PriceChoice& choice,
                                         const std::set<std::string>& gpu_names) const;

 private:
  std::string path_;
  bool by_instance_ = false;  // the shape of SkyPilot's catalogs
  std::vector<PriceRow> rows_;
};

}  // namespace pyrometer::cost

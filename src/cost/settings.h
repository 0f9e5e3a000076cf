// What a user says of money, energy and FLOPs: by options and in the config file.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "cost/assumptions.h"
#include "cost/price.h"
#include "cost/price_table.h"
#include "model/timeline.h"

namespace pyrometer::cost {

struct Settings {
  std::optional<Price> price;                // per GPU-hour; goes before the table
  std::shared_ptr<const PriceTable> prices;  // read once, shared by all jobs of a server
  PriceChoice choice;
  Assumptions assumptions;
};

// The price of a job, or why there is none: "" where none was asked for.
struct JobPrice {
  std::optional<Price> price;
  std::string missing;
};

[[nodiscard]] JobPrice price_of(const Settings& settings, const model::Timeline& timeline,
                                const model::JobAnalysis& job);

}  // namespace pyrometer::cost

// Figures that nothing on the machine tells: given by the user, printed beside what follows from
// them, never assumed.
#pragma once

#include <optional>
#include <string>

namespace pyrometer::cost {

struct Assumptions {
  std::optional<double> pue;  // energy of the data centre ÷ energy of its computers, ≥ 1
  std::string pue_source;     // where it comes from, with the year
  std::optional<double> grid_g_per_kwh;    // g CO2e
  std::string grid_source;                 // the same
  std::optional<double> flops_per_sample;  // forward, backward and update, of one sample
  std::string flops_source;
  std::optional<double> tokens_per_sample;
};

}  // namespace pyrometer::cost

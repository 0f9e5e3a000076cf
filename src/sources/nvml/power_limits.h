// Sets the power limit of GPUs for a while: what it was comes back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sources/nvml/nvml_api.h"

namespace pyrometer::sources::nvml {

// A GPU's limit as it was found, in milliwatts.
struct PowerLimit {
  std::string uuid;
  std::uint32_t index = 0;  // NVML's
  std::uint32_t found_mw = 0;
  std::uint32_t least_mw = 0, most_mw = 0;  // that the driver takes
  friend bool operator==(const PowerLimit&, const PowerLimit&) = default;
};

class PowerLimits {
 public:
  // Reads the limits of the GPUs that are chosen by `wanted` (device_choice.h; empty: all) and
  // tries the right to set them, by setting what is set already. Errors: no NVML, no such GPU, a
  // GPU in MIG mode, kPermission.
  [[nodiscard]] static base::Result<PowerLimits> open(const Opener& opener,
                                                      const std::vector<std::string>& wanted);
  PowerLimits(PowerLimits&& other) noexcept;
  PowerLimits& operator=(PowerLimits&&) = delete;
  PowerLimits(const PowerLimits&) = delete;
  PowerLimits& operator=(const PowerLimits&) = delete;
  ~PowerLimits();  // restores

  [[nodiscard]] const std::vector<PowerLimit>& gpus() const { return found_; }
  // Error kUsage: a GPU does not take it.
  [[nodiscard]] base::Result<void> check(double watts) const;
  // Of every GPU. Errors: as check(), and what the driver says.
  [[nodiscard]] base::Result<void> set(double watts);
  [[nodiscard]] base::Result<void> restore();

 private:
  PowerLimits(Library library, std::vector<PowerLimit> found, std::vector<Handle> handles)
      : library_(std::move(library)), found_(std::move(found)), handles_(std::move(handles)) {}

  Library library_;
  std::vector<PowerLimit> found_;
  std::vector<Handle> handles_;  // in the same order; empty once moved from
  bool is_changed_ = false;
};

// For another process, which is to restore them should this one not live to do so: a line for each
// GPU.
[[nodiscard]] std::string text_of(const std::vector<PowerLimit>& limits);
// Sets the limits of such a text. Lines that cannot be understood, and GPUs that are gone, are left
// out.
void restore_from(std::string_view text, const Opener& opener);

}  // namespace pyrometer::sources::nvml

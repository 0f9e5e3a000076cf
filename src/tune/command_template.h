// Where the values of a configuration go: into the command line, overrides, the environment, or the
// GPUs' power limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/overrides.h"
#include "tune/space.h"

namespace pyrometer::tune {

// What a configuration amounts to.
struct Trial {
  std::vector<std::string> command;
  std::vector<model::Override> overrides;
  std::vector<std::string> environment;  // NAME=value
  std::optional<double> power_limit_w;   // of each GPU
};

// The name of the dimension that is a power limit in watts.
inline constexpr std::string_view kPowerLimit = "power_limit";

// A command line with {name} where values go; {{ and }} are braces.
class CommandTemplate {
 public:
  // Where each dimension goes: to its placeholders, where there are any; else `env:NAME` into the
  // environment, the id of an override to the hook, power_limit to the GPUs. Errors (kUsage): a
  // dimension that goes nowhere, a placeholder without a dimension, a brace that is neither, a
  // value that an override does not take.
  [[nodiscard]] static base::Result<CommandTemplate> make(const std::vector<std::string>& words,
                                                          const Space& space);

  [[nodiscard]] Trial fill(const Space& space, const Point& point) const;
  [[nodiscard]] bool sets_power_limit() const { return power_limit_.has_value(); }
  // A dimension that reaches the program itself, which may change how many samples a step has.
  [[nodiscard]] bool reaches_program(std::size_t dimension) const;

 private:
  enum class Use : std::uint8_t { kPlaceholder, kOverride, kEnvironment, kGpuLimit };
  // A piece of a word: text, or the value of a dimension.
  struct Piece {
    std::string text;
    std::optional<std::size_t> dimension;
  };
  static base::Result<std::vector<Piece>> split(const std::string& word, const Space& space);

  std::vector<std::vector<Piece>> words_;
  std::vector<Use> uses_;  // by dimension
  std::optional<std::size_t> power_limit_;
};

// "{batch}", "64", "{batch}*{accumulation}*8": the samples of a step of the whole job.
class SampleCount {
 public:
  // Error kUsage. Every dimension that it names must have numbers.
  [[nodiscard]] static base::Result<SampleCount> parse(std::string_view text, const Space& space);
  [[nodiscard]] double of(const Space& space, const Point& point) const;

 private:
  double factor_ = 1;
  std::vector<std::size_t> dimensions_;
};

}  // namespace pyrometer::tune

// Plays a scripted fleet as if a driver told of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sources/polled_energy.h"
#include "sources/replay/fleet.h"
#include "sources/source.h"
#include "sources/stand_in.h"

namespace pyrometer::sources::replay {

struct ScriptedOptions {
  Script script;
  std::vector<std::string> devices;  // as of NVML: numbers, UUIDs, PCI addresses; empty: all
  bool identify_always = false;      // see SourceOptions
  std::function<std::int64_t()> clock = monotonic_ns;  // tests let a day pass in seconds
};

class ScriptedSource final : public Source {
 public:
  explicit ScriptedSource(ScriptedOptions options);

  [[nodiscard]] std::string_view name() const override { return "demo"; }
  [[nodiscard]] std::span<const Group> groups() const override;
  [[nodiscard]] base::Result<void> start() override;
  [[nodiscard]] base::Result<void> sample(std::size_t group, Batch& batch) override;
  void stop() noexcept override {}

  [[nodiscard]] const Fleet& fleet() const { return fleet_; }

 private:
  struct Gpu {
    int number = 0;  // in the script
    bool was_lost = false;
    int xids = 0;
    int mig_set = -1;  // that was told of
    PolledEnergy energy;
  };
  // One look at one GPU or instance.
  struct Look;

  [[nodiscard]] double seconds() const;
  [[nodiscard]] base::Result<void> check_driver() const;
  [[nodiscard]] std::int32_t number_of(const std::string& uuid);
  void sample_gpu(Gpu& gpu, std::size_t group, double time, Batch& batch);
  void tell_changes(Gpu& gpu, const Look& look);
  void sample_whole(Gpu& gpu, std::size_t group, const Look& look, bool has_mig);
  void sample_instance(const Gpu& gpu, std::size_t group, const Look& whole, int set, int instance,
                       bool identify);

  ScriptedOptions options_;
  Fleet fleet_;
  std::int64_t origin_ns_;
  std::vector<Gpu> gpus_;
  std::vector<std::string> known_;  // UUIDs by device number
};

// The fleet of a script in place of this machine's GPUs.
[[nodiscard]] StandIn stand_in(Script script);

}  // namespace pyrometer::sources::replay

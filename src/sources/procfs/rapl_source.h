// Energy of the CPUs and their memory, by the meters that the kernel shows in /sys/class/powercap
// (RAPL: Intel, and AMD since Zen).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/procfs/proc_reader.h"
#include "sources/source.h"

namespace pyrometer::sources {

// Since kernel 5.10 the meters can be read by root alone: without the right the readings are
// missing, with that reason. All packages count together; one that cannot be read makes the sum
// missing, never smaller.
class RaplSource final : public Source {
 public:
  explicit RaplSource(std::string root);

  [[nodiscard]] std::string_view name() const override { return "rapl"; }
  [[nodiscard]] std::span<const Group> groups() const override;
  [[nodiscard]] base::Result<void> start() override;
  [[nodiscard]] base::Result<void> sample(std::size_t group, Batch& batch) override;
  void stop() noexcept override { zones_.clear(); }

 private:
  // One meter: microjoules that wrap at `range`.
  struct Zone {
    std::string folder;
    std::uint64_t range = 0;
    std::optional<std::uint64_t> last;
    double joules = 0;  // since the source began
  };
  struct Zones {
    MetricId metric;
    std::vector<Zone> zones;
  };

  void put_sum(Zones& zones, std::int64_t time, Batch& batch);

  ProcReader files_;
  std::vector<Zones> zones_;
};

}  // namespace pyrometer::sources

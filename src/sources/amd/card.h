// One AMD GPU, and the reading of its files.
#pragma once

#include <cstdint>
#include <string>

#include "sources/amd/gpu_metrics.h"
#include "sources/amd/rsmi_api.h"
#include "sources/polled_energy.h"
#include "sources/procfs/proc_reader.h"
#include "sources/rate.h"
#include "sources/source.h"

namespace pyrometer::sources::amd {

struct Card {
  Subject subject{.scope = Scope::kDevice};
  int index = 0;        // among the AMD GPUs of the machine, by address
  std::string address;  // "0000:03:00.0"
  std::string folder;   // "/sys/bus/pci/devices/0000:03:00.0"
  std::string hwmon;    // empty: there is none
  std::string uuid;     // "GPU-" and the chip's number; empty: it has none

  bool is_asleep = false, may_sleep = false;
  bool is_lost = false;
  bool is_announced = false;
  bool is_identified = false;
  int rsmi = -1;  // ROCm SMI's number of it; -1: none

  PolledEnergy energy;
  Rate xgmi_rx, xgmi_tx;
};

// Files readings of one card in a batch. A file that is missing leaves a reason.
class CardReader {
 public:
  CardReader(ProcReader& files, Card& card, Batch& batch, const RsmiApi* rsmi)
      : files_(files), card_(card), batch_(batch), rsmi_(rsmi) {}

  // Cheap and changing. Nothing but its state of a card that is lost or asleep.
  void read_fast();
  // `brief`: only what costs next to nothing.
  void read_slow(bool brief);
  void read_once();

 private:
  void put(MetricId metric, Value value);
  void missing(MetricId metric, Absence absence, std::string_view why) {
    put(metric, Value::missing(absence, why));
  }
  // The file's number times `scale`, or why there is none.
  std::optional<double> number(MetricId metric, const std::string& path, double scale);
  [[nodiscard]] std::optional<double> ask(const std::string& path, double scale);
  void file(MetricId metric, const std::optional<double>& value, std::string_view why);
  [[nodiscard]] std::string of(std::string_view name) const {
    return card_.folder + "/" + std::string(name);
  }
  [[nodiscard]] std::string sensor(std::string_view name) const {
    return card_.hwmon + "/" + std::string(name);
  }
  [[nodiscard]] GpuMetrics table();

  void read_memory();
  void read_clocks(bool limits);
  void read_power();
  void read_limits();
  void read_temperatures(const GpuMetrics& metrics);
  void read_throttling(const GpuMetrics& metrics);
  void read_link();
  void read_energy(const GpuMetrics& metrics);
  void read_errors(const GpuMetrics& metrics);
  void read_traffic(const GpuMetrics& metrics);
  void put_what_amd_lacks();

  ProcReader& files_;
  Card& card_;
  Batch& batch_;
  const RsmiApi* rsmi_;  // null: not here
};

}  // namespace pyrometer::sources::amd

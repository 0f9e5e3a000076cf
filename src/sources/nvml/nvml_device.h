// One GPU or MIG instance, and the reading of its numbers.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "sources/nvml/nvml_api.h"
#include "sources/polled_energy.h"
#include "sources/rate.h"
#include "sources/source.h"

namespace pyrometer::sources::nvml {

// Two samples of the hardware counters, the older of which is kept from poll to poll.
struct GpmState {
  GpmSample kept = nullptr;
  GpmSample spare = nullptr;
  std::int64_t kept_ns = 0;  // 0: there is none yet
  std::optional<Gap> gap;    // why there are no hardware counters; nothing: there are, or untried
  bool is_tried = false;
};

struct Device {
  Handle handle = nullptr;
  Subject subject{.scope = Scope::kDevice};
  std::uint32_t index = 0;  // NVML's
  std::string uuid;         // empty: could not be asked
  std::string pci_id;       // "0000:3b:00.0"; empty: could not be asked

  bool is_mig = false;  // an instance; the next four are then set
  Handle parent = nullptr;
  std::string parent_uuid;
  std::uint32_t gpu_instance = 0;
  std::uint32_t compute_instance = 0;
  bool has_mig_enabled = false;  // a whole GPU in MIG mode
  std::uint32_t mig_instances = 0;

  bool is_lost = false;
  bool may_sleep = false;  // the kernel may suspend it
  bool is_asleep = false;

  // A metric that is not supported is not asked for again before this time.
  std::array<std::int64_t, kMetricCount> ask_again_ns{};
  GpmState gpm;
  Rate pcie_tx, pcie_rx, nvlink_tx, nvlink_rx;
  bool watches_xid = false;
  Gap xid_gap{Absence::kNotSupported, "the driver reports no Xid errors here"};
  std::uint64_t last_xid = 0;            // 0: none
  std::uint64_t process_samples_us = 0;  // the driver's time of the last one seen
  PolledEnergy energy;
};

// Asks the driver and files each answer as a reading of one device. Whatever happens, a call that
// failed, or that reported success without writing anything, leaves a reason and never a zero.
class DeviceReader {
 public:
  DeviceReader(const Api& api, Device& device, Batch& batch)
      : api_(api), device_(device), batch_(batch) {}

  [[nodiscard]] const Api& api() const { return api_; }
  [[nodiscard]] Device& device() { return device_; }
  [[nodiscard]] Batch& batch() { return batch_; }
  // A return code that puts NVML as a whole out of order; kSuccess: none so far.
  [[nodiscard]] Return driver_problem() const { return driver_problem_; }
  // The code with which the device stopped answering; kSuccess: it answers.
  [[nodiscard]] Return device_problem() const { return device_problem_; }

  // `ask(T*)` returns NVML's code; what it writes times `scale` is the reading.
  template <typename T, typename Ask>
  std::optional<double> number(MetricId metric, double scale, const Ask& ask) {
    if (!may_ask(metric)) return std::nullopt;
    T value = std::numeric_limits<T>::max();
    const Return code = ask(&value);
    const bool written = value != std::numeric_limits<T>::max();
    return finish(metric, code,
                  written ? std::optional(static_cast<double>(value) * scale) : std::nullopt);
  }
  template <typename Ask>
  void text(MetricId metric, const Ask& ask);  // ask(char*, size)

  // One field of nvmlDeviceGetFieldValues, times `scale`. Takes nothing down: see field().
  std::optional<double> field(MetricId metric, double scale, std::uint32_t field);
  // The field alone, as a counter. `is_short`: the driver keeps only 32 bits of it.
  [[nodiscard]] Return ask_field(std::uint32_t field, std::uint32_t scope, double& number,
                                 bool& is_short);

  // False, with the reason put down, where the metric need not be asked for.
  [[nodiscard]] bool may_ask(MetricId metric);
  // Files the answer to a call. Returns the number if it is good.
  std::optional<double> finish(MetricId metric, Return code, std::optional<double> number);
  void put(MetricId metric, Value value);
  void missing(MetricId metric, const Gap& gap) {
    put(metric, Value::missing(gap.absence, gap.text));
  }
  void note(Return code);  // looks for lost devices and drivers

 private:
  const Api& api_;
  Device& device_;
  Batch& batch_;
  Return driver_problem_ = kSuccess;
  Return device_problem_ = kSuccess;
};

// Whether the number can be true of something in this unit.
[[nodiscard]] bool is_plausible(const MetricInfo& metric, double number);

template <typename Ask>
void DeviceReader::text(MetricId metric, const Ask& ask) {
  if (!may_ask(metric)) return;
  std::array<char, 128> buffer{};
  const Return code = ask(buffer.data(), static_cast<std::uint32_t>(buffer.size() - 1));
  if (code == kSuccess && buffer[0] != '\0') {
    put(metric, Value::text(std::string(buffer.data())));
  } else {
    finish(metric, code, std::nullopt);
  }
}

}  // namespace pyrometer::sources::nvml

// Readings of NVIDIA GPUs through NVML.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sources/nvml/device_list.h"
#include "sources/nvml/nvml_api.h"
#include "sources/nvml/xid.h"
#include "sources/source.h"

namespace pyrometer::sources::nvml {

struct NvmlOptions {
  std::string root;                  // prefix of /proc and /sys
  std::vector<std::string> devices;  // see is_wanted(); empty: all
  Opener open = open_nvml;
  // A laptop's GPU cannot sleep while its driver is in use: after this long without work on any GPU
  // that may sleep, the driver is let go until a GPU is seen awake again.
  std::int64_t release_after_ns = 60'000'000'000;
  // For one look instead of a watch: leaves out the calls that take milliseconds (hardware
  // counters, energy, links, error counters, use by process) and the watch for Xid errors.
  bool brief = false;
  bool may_block = true;  // see read_slow()
  // Sampling "once" says what every device is each time, not only of those that are new.
  bool identify_always = false;
};

class NvmlSource final : public Source {
 public:
  explicit NvmlSource(NvmlOptions options);
  ~NvmlSource() override;

  [[nodiscard]] std::string_view name() const override { return "nvml"; }
  [[nodiscard]] std::span<const Group> groups() const override;
  // Errors say precisely why no GPU can be read (sources/gpu_presence.h), and what to do.
  [[nodiscard]] base::Result<void> start() override;
  [[nodiscard]] base::Result<void> sample(std::size_t group, Batch& batch) override;
  void stop() noexcept override;

 private:
  struct Session;  // NVML while it is open

  [[nodiscard]] base::Result<void> open();
  [[nodiscard]] base::Error explain(base::Error error, Return code, const DeviceList* list) const;
  void adopt(DeviceList list);
  [[nodiscard]] base::Result<void> read_all(std::size_t group, Batch& batch);
  void look_for_sleep(Device& device);
  void settle(DeviceReader& reader);
  void plan_reopen();
  void look_for_lost(Batch& batch);
  [[nodiscard]] base::Result<void> reopen_if_due();
  [[nodiscard]] bool rescan_if_mig_changed();
  void release_if_idle();
  [[nodiscard]] base::Result<void> wait_for_wakeup(Batch& batch);
  void announce(Batch& batch);

  NvmlOptions options_;
  bool same_namespace_;
  DeviceNumbers numbers_;
  std::unique_ptr<Session> session_;       // null: not started, or released
  std::vector<Device> devices_;            // stay while the session is reopened
  std::vector<std::int32_t> announced_;    // numbers of devices that an event has told of
  std::vector<std::int32_t> to_identify_;  // whose fixed readings are due
  std::int64_t reopen_at_ns_ = 0;          // to look for lost devices with a fresh library
  std::int64_t reopen_wait_ns_ = 0;
  std::uint32_t rounds_ = 0;  // of the slow group

  bool is_released_ = false;
  bool was_asleep_ = false;  // since the release
  std::int64_t released_ns_ = 0;
  std::int64_t busy_ns_ = 0;  // last time that a GPU was seen at work
};

}  // namespace pyrometer::sources::nvml

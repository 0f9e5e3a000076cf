// Readings of Huawei's NPUs through DCMI.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sources/ascend/dcmi_api.h"
#include "sources/polled_energy.h"
#include "sources/source.h"

namespace pyrometer::sources::ascend {

struct AscendOptions {
  std::string root;                  // prefix of /proc and /dev
  std::vector<std::string> devices;  // DCMI's logic ids, "NPU-…", PCI addresses; empty: all
  bool brief = false;                // see SourceOptions
  bool identify_always = false;
  Opener open = open_dcmi;
};

// Whether there are NPUs or their driver's library.
[[nodiscard]] bool has_ascend(const std::string& root);

struct Npu {
  Subject subject{.scope = Scope::kDevice};
  int card = 0, chip = 0;
  int index = 0;             // DCMI's logic id, or one by one
  std::string uuid, pci_id;  // empty: not told
  bool is_lost = false;
  bool is_announced = false, is_identified = false;
  PolledEnergy energy;
};

class AscendSource final : public Source {
 public:
  explicit AscendSource(AscendOptions options);
  ~AscendSource() override;

  [[nodiscard]] std::string_view name() const override { return "ascend"; }
  [[nodiscard]] std::span<const Group> groups() const override;
  [[nodiscard]] base::Result<void> start() override;
  [[nodiscard]] base::Result<void> sample(std::size_t group, Batch& batch) override;
  void stop() noexcept override;

 private:
  [[nodiscard]] base::Result<void> find_npus();
  void add_npu(int card, int chip);
  void look_for(Npu& npu, Batch& batch);
  void read_processes(Npu& npu, Batch& batch);

  AscendOptions options_;
  bool same_namespace_;
  std::unique_ptr<Library> library_;  // null: not open
  std::vector<Npu> npus_;             // stay, with their numbers, while the source is started anew
};

}  // namespace pyrometer::sources::ascend

// Readings of AMD GPUs: amdgpu's files in /sys, what the kernel tells of processes, and ROCm SMI
// where it is installed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sources/amd/card.h"
#include "sources/amd/drm_processes.h"
#include "sources/amd/rsmi_api.h"
#include "sources/source.h"

namespace pyrometer::sources::amd {

struct AmdOptions {
  std::string root;                  // prefix of /proc, /sys and /usr
  std::vector<std::string> devices;  // numbers among AMD GPUs, "GPU-…", PCI addresses; empty: all
  bool brief = false;                // see SourceOptions
  bool identify_always = false;
  RsmiOpener open = open_rsmi;  // empty: do without ROCm SMI, which knows no other root
};

// Whether the kernel's amdgpu driver has a GPU here.
[[nodiscard]] bool has_amd_gpu(const std::string& root);

class AmdSource final : public Source {
 public:
  explicit AmdSource(AmdOptions options);
  ~AmdSource() override;

  [[nodiscard]] std::string_view name() const override { return "amd"; }
  [[nodiscard]] std::span<const Group> groups() const override;
  // Errors: kNotFound where amdgpu has no GPU, or none of those asked for.
  [[nodiscard]] base::Result<void> start() override;
  [[nodiscard]] base::Result<void> sample(std::size_t group, Batch& batch) override;
  void stop() noexcept override;

 private:
  void find_cards();
  void open_rsmi_library();
  void look_at(Card& card, Batch& batch);
  void read_processes(const Card& card, Batch& batch);

  AmdOptions options_;
  ProcReader files_;
  std::vector<Card> cards_;  // stay, with their numbers, while the source is started anew
  DrmProcesses processes_;
  std::unique_ptr<RsmiLibrary> rsmi_;  // null: not here, or not asked for
};

}  // namespace pyrometer::sources::amd

// A stand-in for librocm_smi64.so: one GPU at 0000:03:00.0 with an energy meter and ECC counters.
// PYROMETER_STUB_RSMI holds words: "no-init", "no-energy", "elsewhere" (another PCI address).
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

constexpr std::uint32_t kSuccess = 0, kNotSupported = 2, kInitError = 8;

bool is_set(std::string_view word) {
  const char* words = std::getenv("PYROMETER_STUB_RSMI");
  return words != nullptr && std::string_view(words).find(word) != std::string_view::npos;
}

}  // namespace

extern "C" {

int stub_rsmi_open = 0;  // rsmi_init without its rsmi_shut_down

std::uint32_t rsmi_init(std::uint64_t) {
  if (is_set("no-init")) return kInitError;
  ++stub_rsmi_open;
  return kSuccess;
}
std::uint32_t rsmi_shut_down() {
  --stub_rsmi_open;
  return kSuccess;
}
std::uint32_t rsmi_num_monitor_devices(std::uint32_t* count) {
  *count = 1;
  return kSuccess;
}
std::uint32_t rsmi_dev_pci_id_get(std::uint32_t device, std::uint64_t* id) {
  if (device != 0) return kNotSupported;
  *id = is_set("elsewhere") ? 0x9900 : 0x0300;
  return kSuccess;
}
std::uint32_t rsmi_dev_energy_count_get(std::uint32_t, std::uint64_t* ticks, float* resolution,
                                        std::uint64_t* time) {
  if (is_set("no-energy")) return kNotSupported;
  *ticks = 2'000'000;
  *resolution = 15.3F;
  *time = 1;
  return kSuccess;
}
std::uint32_t rsmi_dev_ecc_count_get(std::uint32_t, std::uint64_t block, std::uint64_t* counts) {
  if (block != 1) return kNotSupported;
  counts[0] = 7;  // corrected
  counts[1] = 1;
  return kSuccess;
}
}

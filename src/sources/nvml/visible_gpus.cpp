#include "sources/nvml/visible_gpus.h"

#include <cstdlib>
#include <string_view>

#include "sources/nvml/device_list.h"
#include "sources/nvml/nvml_errors.h"

namespace pyrometer::sources::nvml {

std::vector<std::string> visible_gpus() {
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return {};
  std::vector<std::string> out;
  std::string_view text = visible;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    std::string_view one = text.substr(0, comma);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    if (!one.empty()) out.emplace_back(one);
    if (comma == text.npos) break;
    text.remove_prefix(comma + 1);
  }
  // Set and empty hides all.
  if (out.empty()) out.emplace_back("none");
  return out;
}

base::Result<std::vector<std::string>> gpu_names(const Opener& opener) {
  const auto none = [] {
    return base::fail({.kind = base::ErrorKind::kNotFound,
                       .message = "there is no GPU that programs started here would see",
                       .file = ""});
  };
  std::vector<std::string> names = visible_gpus();
  if (names == std::vector<std::string>{"none"} || names == std::vector<std::string>{"-1"}) {
    return none();
  }
  if (!names.empty()) return names;
  base::Result<Library> library = opener();
  if (!library) return base::fail(library.error());
  if (const Return code = call(library->api.init); code != kSuccess) {
    return base::fail(driver_error("starting NVML", code));
  }
  for (const Device& device : list_devices(library->api, {}, "").devices) {
    // A program can use one MIG instance at a time, by its own name.
    const bool usable = !device.is_lost && !device.has_mig_enabled && !device.uuid.empty();
    if (usable) names.push_back(device.uuid);
  }
  static_cast<void>(library->api.shutdown());
  if (names.empty()) return none();
  return names;
}

}  // namespace pyrometer::sources::nvml

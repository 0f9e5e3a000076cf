#include "sources/pci.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "sources/procfs/proc_reader.h"

namespace pyrometer::sources {
namespace {

constexpr std::string_view kBus = "/sys/bus/pci/devices/";

// "0x10de\n"
unsigned read_hex(ProcReader& files, const std::string& path) {
  const auto text = files.read(path);
  if (!text || !text->starts_with("0x")) return 0;
  const std::string_view digits = trim(text->substr(2));
  unsigned value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  return value;
}

std::string link_name(const std::string& path) {
  std::array<char, 512> target{};
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  if (size <= 0) return {};
  const std::string_view text(target.data(), static_cast<std::size_t>(size));
  return std::string(text.substr(text.rfind('/') + 1));
}

bool is_graphics(unsigned class_code) {
  const unsigned base = class_code >> 16;
  return base == 0x03 || base == 0x12;
}

constexpr const char* kDrivers = "/sys/bus/pci/drivers/";

}  // namespace

std::vector<PciDevice> list_graphics_devices(const std::string& root, const std::string& driver) {
  std::vector<PciDevice> devices;
  const bool has_drivers = !driver.empty() && access((root + kDrivers).c_str(), F_OK) == 0;
  const std::string bus = root + (has_drivers ? kDrivers + driver : std::string(kBus));
  DIR* folder = opendir(bus.c_str());
  if (folder == nullptr) return devices;
  ProcReader files(root);
  while (const dirent* entry = readdir(folder)) {
    // A driver's folder also holds "bind", "module" and the like.
    if (std::strchr(entry->d_name, ':') == nullptr) continue;
    const std::string path = std::string(kBus) + entry->d_name;
    PciDevice device{.address = entry->d_name, .class_code = read_hex(files, path + "/class")};
    if (!is_graphics(device.class_code)) continue;
    device.vendor = read_hex(files, path + "/vendor");
    device.device = read_hex(files, path + "/device");
    device.driver = link_name(root + path + "/driver");
    if (!driver.empty() && device.driver != driver) continue;
    devices.push_back(std::move(device));
  }
  closedir(folder);
  std::ranges::sort(devices, {}, &PciDevice::address);
  return devices;
}

std::string kernel_pci_address(std::string_view address) {
  std::string text(address);
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  });
  // The domain has at least four digits in /sys and always eight in NVML.
  std::size_t digits = text.find(':');
  if (digits == std::string::npos || digits <= 4) return text;
  std::size_t zeros = 0;
  while (digits - zeros > 4 && text[zeros] == '0') ++zeros;
  return text.substr(zeros);
}

SleepState sleep_state(const std::string& root, const std::string& address) {
  if (address.empty()) return SleepState::kNever;
  ProcReader files(root);
  const std::string folder = std::string(kBus) + address + "/power/";
  const auto control = files.read(folder + "control");
  if (!control || trim(*control) != "auto") return SleepState::kNever;
  const auto status = files.read(folder + "runtime_status");
  if (!status) return SleepState::kNever;
  const std::string_view state = trim(*status);
  return state == "suspended" || state == "suspending" ? SleepState::kAsleep : SleepState::kAwake;
}

}  // namespace pyrometer::sources

#include "sources/nvml/power_limits.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "sources/nvml/device_list.h"
#include "sources/nvml/nvml_errors.h"

namespace pyrometer::sources::nvml {
namespace {

using base::Result;

constexpr double kMilli = 1000;

tl::unexpected<base::Error> refuse(base::ErrorKind kind, std::string message,
                                   std::string advice = {}) {
  return base::fail(
      {.kind = kind, .message = std::move(message), .file = "", .advice = std::move(advice)});
}

std::string name_of(const PowerLimit& one) { return "GPU " + std::to_string(one.index); }

Result<PowerLimit> read(const Api& api, const Device& device) {
  PowerLimit one{.uuid = device.uuid, .index = device.index};
  if (device.has_mig_enabled || device.is_mig) {
    return refuse(base::ErrorKind::kUnsupported,
                  name_of(one) + " is divided into MIG instances, which share its power limit",
                  "Take another GPU, by CUDA_VISIBLE_DEVICES");
  }
  Return code = call(api.power_limit_set, device.handle, &one.found_mw);
  if (code == kSuccess) {
    code = call(api.power_limits, device.handle, &one.least_mw, &one.most_mw);
  }
  if (code == kSuccess && one.found_mw > 0 && one.found_mw != kNoValue32) return one;
  return refuse(
      base::ErrorKind::kUnsupported,
      "the power limit of " + name_of(one) + " cannot be read: " + std::string(return_text(code)));
}

Result<void> set_limit(const Api& api, Handle handle, const PowerLimit& one, std::uint32_t mw) {
  const Return code = call(api.set_power_limit, handle, mw);
  if (code == kSuccess) return {};
  if (code == kNoPermission) {
    return refuse(base::ErrorKind::kPermission,
                  "no right to set the power limit of " + name_of(one),
                  "Run as root, or leave power_limit out of the space");
  }
  return refuse(base::ErrorKind::kUnsupported,
                fmt::format("the power limit of {} cannot be set to {} W: {}", name_of(one),
                            static_cast<double>(mw) / kMilli, return_text(code)));
}

}  // namespace

Result<PowerLimits> PowerLimits::open(const Opener& opener,
                                      const std::vector<std::string>& wanted) {
  Result<Library> library = opener();
  if (!library) return base::fail(library.error());
  const Api& api = library->api;
  if (const Return code = call(api.init); code != kSuccess) {
    return base::fail(driver_error("starting NVML", code));
  }
  // From here on its destructor shuts NVML down.
  PowerLimits out(std::move(*library), {}, {});
  const DeviceList list = list_devices(out.library_.api, wanted, "");
  for (const Device& device : list.devices) {
    if (device.is_lost || device.handle == nullptr) continue;
    Result<PowerLimit> one = read(out.library_.api, device);
    if (!one) return base::fail(one.error());
    if (auto may = set_limit(out.library_.api, device.handle, *one, one->found_mw); !may) {
      return base::fail(may.error());
    }
    out.found_.push_back(std::move(*one));
    out.handles_.push_back(device.handle);
  }
  if (out.found_.empty()) {
    return refuse(base::ErrorKind::kNotFound, "there is no GPU whose power limit could be set");
  }
  return out;
}

PowerLimits::PowerLimits(PowerLimits&& other) noexcept
    : library_(std::exchange(other.library_, {})),
      found_(std::move(other.found_)),
      handles_(std::exchange(other.handles_, {})),
      is_changed_(std::exchange(other.is_changed_, false)) {}

PowerLimits::~PowerLimits() {
  if (library_.api.shutdown == nullptr) return;  // moved from
  static_cast<void>(restore());
  static_cast<void>(library_.api.shutdown());
}

Result<void> PowerLimits::check(double watts) const {
  const double mw = std::round(watts * kMilli);
  for (const PowerLimit& one : found_) {
    if (mw >= one.least_mw && mw <= one.most_mw) continue;
    return refuse(base::ErrorKind::kUsage,
                  fmt::format("{} takes power limits from {} to {} W, not {} W", name_of(one),
                              one.least_mw / kMilli, one.most_mw / kMilli, watts));
  }
  return {};
}

Result<void> PowerLimits::set(double watts) {
  if (auto taken = check(watts); !taken) return taken;
  const auto mw = static_cast<std::uint32_t>(std::round(watts * kMilli));
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    is_changed_ = true;
    auto done = set_limit(library_.api, handles_[i], found_[i], mw);
    if (!done) return done;
  }
  return {};
}

Result<void> PowerLimits::restore() {
  if (!is_changed_) return {};
  Result<void> all;
  for (std::size_t i = 0; i < handles_.size(); ++i) {
    auto done = set_limit(library_.api, handles_[i], found_[i], found_[i].found_mw);
    if (!done && all) {
      done.error().advice = fmt::format("Set it back by nvidia-smi -i {} -pl {}", found_[i].index,
                                        found_[i].found_mw / kMilli);
      all = done;
    }
  }
  is_changed_ = !all;
  return all;
}

std::string text_of(const std::vector<PowerLimit>& limits) {
  std::string text;
  for (const PowerLimit& one : limits) text += fmt::format("{} {}\n", one.uuid, one.found_mw);
  return text;
}

void restore_from(std::string_view text, const Opener& opener) {
  Result<Library> library = opener();
  if (!library || call(library->api.init) != kSuccess) return;
  const Api& api = library->api;
  const DeviceList list = list_devices(api, {}, "");
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const std::size_t space = line.find(' ');
    if (space == line.npos) continue;
    std::uint32_t mw = 0;
    const auto [stop, error] =
        std::from_chars(line.data() + space + 1, line.data() + line.size(), mw);
    if (error != std::errc() || stop != line.data() + line.size()) continue;
    for (const Device& device : list.devices) {
      if (device.uuid == line.substr(0, space)) {
        static_cast<void>(call(api.set_power_limit, device.handle, mw));
      }
    }
  }
  static_cast<void>(api.shutdown());
}

}  // namespace pyrometer::sources::nvml

#include "readout/time_text.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

namespace pyrometer::readout {
namespace {

constexpr std::int64_t kMillis = 1000;

std::string formatted(std::int64_t unix_ms, bool is_local, const char* form) {
  const auto seconds = static_cast<std::time_t>(unix_ms / kMillis);
  std::tm parts{};
  if (is_local) {
    localtime_r(&seconds, &parts);
  } else {
    gmtime_r(&seconds, &parts);
  }
  std::array<char, 64> text{};
  return {text.data(), std::strftime(text.data(), text.size(), form, &parts)};
}

}  // namespace

std::string utc_text(std::int64_t unix_ms) {
  return formatted(unix_ms, false, "%Y-%m-%dT%H:%M:%S") + fmt::format(".{:03}Z", unix_ms % kMillis);
}

std::string local_text(std::int64_t unix_ms) {
  return formatted(unix_ms, true, "%Y-%m-%d %H:%M:%S");
}

std::string smi_time_text(std::int64_t unix_ms) {
  return formatted(unix_ms, true, "%Y/%m/%d %H:%M:%S") + fmt::format(".{:03}", unix_ms % kMillis);
}

}  // namespace pyrometer::readout

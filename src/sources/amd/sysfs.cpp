#include "sources/amd/sysfs.h"

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>

namespace pyrometer::sources::amd {
namespace {

// "0x15bf\n" as "15BF".
std::string upper_hex(ProcReader& files, const std::string& path) {
  const auto text = files.read(path);
  if (!text || !text->starts_with("0x")) return {};
  std::string digits(trim(text->substr(2)));
  std::ranges::transform(digits, digits.begin(), [](unsigned char c) {
    return static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  });
  return digits;
}

// Lines of "15BF,<tab>C1,<tab>AMD Radeon 780M".
std::string name_in_table(const std::string& path, const std::string& device,
                          const std::string& revision) {
  std::ifstream table(path);
  std::string line;
  while (std::getline(table, line)) {
    std::string_view rest = line;
    const auto take = [&rest] {
      const std::size_t comma = rest.find(',');
      const std::string_view cell = trim(rest.substr(0, comma));
      rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
      return cell;
    };
    if (take() == device && take() == revision) return std::string(trim(rest));
  }
  return {};
}

}  // namespace

ClockLevels parse_clock_levels(std::string_view text) {
  ClockLevels levels;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    // "S: 19Mhz *" is a state of deep sleep: a clock, and no level.
    const bool is_level = to_number(trim(line.substr(0, colon))).has_value();
    std::string_view rest = line.substr(colon + 1);
    const std::string_view word = take_word(rest);
    double megahertz = 0;
    const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), megahertz);
    if (problem != std::errc{} || std::string_view(end, word.data() + word.size()) != "Mhz")
      continue;
    if (is_level) levels.highest = std::max(levels.highest.value_or(0), megahertz);
    if (trim(rest) == "*") levels.current = megahertz;
  }
  return levels;
}

std::optional<int> pcie_generation_of(std::string_view speed) {
  struct Generation {
    std::string_view speed;
    int number;
  };
  static constexpr Generation kGenerations[] = {{"2.5", 1}, {"5.0", 2},  {"5", 2},  {"8.0", 3},
                                                {"8", 3},   {"16.0", 4}, {"16", 4}, {"32.0", 5},
                                                {"32", 5},  {"64.0", 6}, {"64", 6}};
  const std::string_view number = take_word(speed);
  for (const Generation& generation : kGenerations) {
    if (generation.speed == number) return generation.number;
  }
  return std::nullopt;
}

std::optional<ErrorCounts> parse_error_counts(std::string_view text) {
  ErrorCounts counts;
  bool found = false;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    const std::string_view kind = take_word(line);
    const auto number = take_number(line);
    if (!number) continue;
    if (kind == "ue:") counts.uncorrected = *number;
    if (kind == "ce:") counts.corrected = *number;
    found = found || kind == "ue:" || kind == "ce:";
  }
  return found ? std::optional(counts) : std::nullopt;
}

std::string product_name(ProcReader& files, const std::string& folder) {
  if (const auto name = files.read(folder + "/product_name"); name && !trim(*name).empty()) {
    return std::string(trim(*name));
  }
  const std::string device = upper_hex(files, folder + "/device");
  const std::string revision = upper_hex(files, folder + "/revision");
  for (const char* table :
       {"/usr/share/libdrm/amdgpu.ids", "/opt/amdgpu/share/libdrm/amdgpu.ids"}) {
    const std::string name = name_in_table(files.root() + table, device, revision);
    if (!name.empty()) return name;
  }
  return device.empty() ? "AMD GPU" : "AMD GPU (PCI device 1002:" + device + ")";
}

std::string hwmon_folder(const std::string& root, const std::string& folder) {
  const std::string parent = folder + "/hwmon";
  std::string found;
  DIR* list = opendir((root + parent).c_str());
  if (list == nullptr) return found;
  while (const dirent* entry = readdir(list)) {
    const std::string_view name = entry->d_name;
    if (name.starts_with("hwmon")) found = parent + "/" + std::string(name);
  }
  closedir(list);
  return found;
}

}  // namespace pyrometer::sources::amd

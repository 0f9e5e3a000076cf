#include "sources/amd/drm_processes.h"

#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace pyrometer::sources::amd {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

Folder open_folder(const std::string& path) { return Folder(opendir(path.c_str())); }

// The names in a folder that are numbers.
template <typename Visit>
void each_number(DIR* folder, const Visit& visit) {
  while (const dirent* entry = readdir(folder)) {
    if (const auto number = to_number(entry->d_name); number && *number <= 0x7FFFFFFF) {
      visit(*number);
    }
  }
}

// "2048 KiB", "0", "12345 ns".
std::optional<std::uint64_t> with_unit(std::string_view text) {
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  const std::string_view unit = take_word(text);
  const std::uint64_t factor = unit == "KiB"   ? 1024
                               : unit == "MiB" ? std::uint64_t{1} << 20
                               : unit == "GiB" ? std::uint64_t{1} << 30
                                               : 1;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 62;
  return *number <= kMost / factor ? std::optional(*number * factor) : std::nullopt;
}

void add(std::optional<std::uint64_t>& sum, const std::optional<std::uint64_t>& part) {
  if (part) sum = sum.value_or(0) + *part;
}

bool is_of_drm(const char* link) {
  std::array<char, 64> target{};
  const ssize_t size = readlink(link, target.data(), target.size() - 1);
  return size > 0 &&
         std::string_view(target.data(), static_cast<std::size_t>(size)).starts_with("/dev/dri/");
}

// The value behind a key in the lines of a topology node.
std::optional<std::uint64_t> property(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (take_word(line) == key) return take_number(line);
  }
  return std::nullopt;
}

std::string hex(std::uint64_t number, int digits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (int i = digits - 1; i >= 0; --i) text += kDigits[number >> (4 * i) & 0xF];
  return text;
}

}  // namespace

std::optional<DrmClient> parse_fdinfo(std::string_view text) {
  DrmClient client;
  bool has_id = false;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (!line.starts_with("drm-")) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = line.substr(0, colon);
    const std::string_view value = trim(line.substr(colon + 1));
    if (key == "drm-driver") client.driver = value;
    if (key == "drm-pdev") client.address = value;
    if (key == "drm-client-id") {
      const auto id = to_number(value);
      has_id = id.has_value();
      client.id = id.value_or(0);
    }
    // Older kernels call it drm-memory-*; what is resident is what counts.
    if (key == "drm-resident-vram" || (key == "drm-memory-vram" && !client.vram)) {
      client.vram = with_unit(value);
    }
    if (key == "drm-resident-gtt" || (key == "drm-memory-gtt" && !client.gtt)) {
      client.gtt = with_unit(value);
    }
    if (key == "drm-engine-gfx") client.graphics_ns = with_unit(value);
    if (key == "drm-engine-compute") client.compute_ns = with_unit(value);
  }
  if (client.driver.empty() || client.address.empty() || !has_id) return std::nullopt;
  return client;
}

DrmProcesses::DrmProcesses(std::string root, bool same_namespace)
    : files_(std::move(root)), same_namespace_(same_namespace) {}

void DrmProcesses::look_at(std::int32_t pid, std::map<Key, DrmProcess>& all, std::int64_t now_ns) {
  const std::string process = "/proc/" + std::to_string(pid);
  const std::string links = files_.root() + process + "/fd/";
  const Folder folder = open_folder(links);
  if (folder == nullptr) {
    if (errno == EACCES || errno == EPERM) ++hidden_;
    return;
  }
  std::set<std::pair<std::string, std::uint64_t>> seen;  // several files may be of one client
  std::map<std::string, std::uint64_t> busy;             // by GPU, ns
  each_number(folder.get(), [&](std::uint64_t number) {
    const std::string name = std::to_string(number);
    if (!is_of_drm((links + name).c_str())) return;
    const auto text = files_.read(process + "/fdinfo/" + name);
    const auto client = text ? parse_fdinfo(*text) : std::nullopt;
    if (!client || client->driver != "amdgpu" ||
        !seen.emplace(client->address, client->id).second) {
      return;
    }
    DrmProcess& found = all[{client->address, pid}];
    found.pid = pid;
    found.computes = found.computes || client->compute_ns.value_or(0) > 0;
    add(found.vram, client->vram);
    add(found.gtt, client->gtt);
    if (client->graphics_ns || client->compute_ns) {
      busy[client->address] += client->graphics_ns.value_or(0) + client->compute_ns.value_or(0);
    }
  });
  for (const auto& [address, nanoseconds] : busy) {
    Value util = busy_[{address, pid}].update(nanoseconds, now_ns, 1e-9);
    // Work on several engines at once is no more than all of the time.
    if (const double* share = util.number()) util = Value::number(std::min(*share, 1.0));
    all[{address, pid}].util = std::move(util);
  }
}

// KFD's numbers of GPUs by PCI address.
std::map<std::uint64_t, std::string> DrmProcesses::kfd_addresses() {
  std::map<std::uint64_t, std::string> addresses;
  const std::string nodes = "/sys/class/kfd/kfd/topology/nodes/";
  const Folder folder = open_folder(files_.root() + nodes);
  if (folder == nullptr) return addresses;
  each_number(folder.get(), [&](std::uint64_t node) {
    const std::string path = nodes + std::to_string(node);
    const auto id = files_.read_number(path + "/gpu_id");
    if (!id || *id == 0) return;  // a CPU
    const auto text = files_.read(path + "/properties");
    if (!text) return;
    const auto location = property(*text, "location_id");
    const std::uint64_t domain = property(*text, "domain").value_or(0);
    if (!location) return;
    addresses[*id] = hex(domain, 4) + ":" + hex(*location >> 8, 2) + ":" +
                     hex(*location >> 3 & 0x1F, 2) + "." + hex(*location & 7, 1);
  });
  return addresses;
}

void DrmProcesses::look_at_kfd(std::map<Key, DrmProcess>& all) {
  const std::string list = "/sys/class/kfd/kfd/proc/";
  const Folder folder = open_folder(files_.root() + list);
  if (folder == nullptr) return;
  const auto addresses = kfd_addresses();
  each_number(folder.get(), [&](std::uint64_t number) {
    const auto pid = static_cast<std::int32_t>(number);
    for (const auto& [gpu, address] : addresses) {
      const auto bytes =
          files_.read_number(list + std::to_string(pid) + "/vram_" + std::to_string(gpu));
      const auto known = all.find({address, pid});
      // A program that computes is shown every GPU, also those that it does not use.
      if (known == all.end() && bytes.value_or(0) == 0) continue;
      DrmProcess& process = all[{address, pid}];
      process.pid = pid;
      process.computes = true;
      if (bytes) process.vram = std::max(process.vram.value_or(0), *bytes);
    }
  });
}

void DrmProcesses::look(std::int64_t now_ns) {
  hidden_ = 0;
  std::map<Key, DrmProcess> all;
  if (const Folder folder = open_folder(files_.root() + "/proc"); folder != nullptr) {
    each_number(folder.get(),
                [&](std::uint64_t pid) { look_at(static_cast<std::int32_t>(pid), all, now_ns); });
  }
  if (same_namespace_) look_at_kfd(all);
  std::erase_if(busy_, [&all](const auto& entry) { return !all.contains(entry.first); });
  processes_.clear();
  for (auto& [key, process] : all) processes_[key.first].push_back(std::move(process));
}

const std::vector<DrmProcess>& DrmProcesses::on(const std::string& address) const {
  static const std::vector<DrmProcess> kNone;
  const auto found = processes_.find(address);
  return found == processes_.end() ? kNone : found->second;
}

}  // namespace pyrometer::sources::amd

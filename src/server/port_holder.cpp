#include "server/port_holder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "sources/procfs/proc_reader.h"

namespace pyrometer::server {
namespace {

constexpr std::string_view kListening = "0A";

// Of lines "  0: 0100007F:24B8 00000000:0000 0A …": the inodes that listen on the port.
void add_inodes(std::string_view table, std::uint16_t port, std::set<std::string>& inodes) {
  static_cast<void>(sources::take_line(table));  // the titles
  while (!table.empty()) {
    std::string_view line = sources::take_line(table);
    static_cast<void>(sources::take_word(line));
    const std::string_view local = sources::take_word(line);
    static_cast<void>(sources::take_word(line));
    if (sources::take_word(line) != kListening) continue;
    const std::size_t colon = local.find(':');
    if (colon == std::string_view::npos) continue;
    unsigned number = 0;
    constexpr int kHex = 16;
    std::from_chars(local.data() + colon + 1, local.data() + local.size(), number, kHex);
    if (number != port) continue;
    // Queues, timer, retransmissions, user and timeout stand before the inode.
    for (int i = 0; i < 5; ++i) static_cast<void>(sources::take_word(line));
    inodes.insert("socket:[" + std::string(sources::take_word(line)) + "]");
  }
}

bool holds(const std::filesystem::path& process, const std::set<std::string>& inodes) {
  std::error_code none;
  std::filesystem::directory_iterator at(process / "fd", none);
  for (; !none && at != std::filesystem::directory_iterator(); at.increment(none)) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(at->path(), gone);
    if (!gone && inodes.contains(target.native())) return true;
  }
  return false;
}

}  // namespace

std::string holder_text(std::uint16_t port) {
  sources::ProcReader files("");
  std::set<std::string> inodes;
  for (const char* name : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    if (const auto table = files.read(name)) add_inodes(*table, port, inodes);
  }
  if (inodes.empty()) return {};
  std::error_code none;
  std::filesystem::directory_iterator at("/proc", none);
  for (; !none && at != std::filesystem::directory_iterator(); at.increment(none)) {
    const std::string pid = at->path().filename();
    if (!sources::to_number(pid) || !holds(at->path(), inodes)) continue;
    const auto name = files.read("/proc/" + pid + "/comm");
    return " by " + (name ? std::string(sources::trim(*name)) : "a program") + " (process " + pid +
           ")";
  }
  return {};
}

}  // namespace pyrometer::server

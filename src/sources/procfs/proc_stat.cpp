#include "sources/procfs/proc_stat.h"

#include <array>

namespace pyrometer::sources {
namespace {

// Numbers of proc(5), less the three fields up to the state.
enum Field : std::size_t {
  kParent = 0,
  kGroup = 1,
  kSession = 2,
  kMinor = 6,
  kMajor = 8,
  kUser = 10,
  kSystem = 11,
  kChildrenUser = 12,
  kChildrenSystem = 13,
  kThreads = 16,
  kStart = 18,
  kResident = 20,
  kProcessor = 35,
  kIoDelay = 38,
  kFields = 39,
};

}  // namespace

std::optional<ProcStat> parse_proc_stat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  ProcStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  text = trim(text.substr(close + 1));
  const std::string_view state = take_word(text);
  if (state.size() != 1) return std::nullopt;
  stat.state = state[0];
  std::array<std::uint64_t, kFields> f{};
  std::size_t count = 0;
  for (; count < f.size(); ++count) {
    const std::string_view word = take_word(text);
    if (word.empty()) break;
    // What may be negative (terminal, priority) is not used.
    f[count] = to_number(word).value_or(0);
  }
  if (count <= kResident) return std::nullopt;
  stat.parent = static_cast<int>(f[kParent]);
  stat.group = static_cast<int>(f[kGroup]);
  stat.session = static_cast<int>(f[kSession]);
  stat.faults_minor = f[kMinor];
  stat.faults_major = f[kMajor];
  stat.user = f[kUser];
  stat.system = f[kSystem];
  stat.children = f[kChildrenUser] + f[kChildrenSystem];
  stat.threads = f[kThreads];
  stat.start = f[kStart];
  stat.resident_pages = f[kResident];
  if (count > kProcessor) stat.last_cpu = static_cast<int>(f[kProcessor]);
  stat.io_delay = f[kIoDelay];
  return stat;
}

std::optional<std::uint64_t> parse_run_wait(std::string_view text) {
  text = trim(text);
  const auto ran = take_number(text);
  const auto waited = take_number(text);
  const auto slices = take_number(text);
  if (!ran || !waited || !slices || (*ran == 0 && *slices == 0)) return std::nullopt;
  return waited;
}

}  // namespace pyrometer::sources

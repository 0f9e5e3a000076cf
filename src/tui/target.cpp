#include "tui/target.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "sources/procfs/process_usage.h"

namespace pyrometer::tui {
namespace {

std::string words_for(int error) {
  switch (error) {
    case EPERM:
      return "not permitted: it is another user's process";
    case ESRCH:
      return "it has ended";
    default:
      return std::strerror(error);
  }
}

}  // namespace

std::string Target::aim(int pid, std::uint64_t start_ticks) {
  let_go();
  handle_ = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (handle_ < 0 && errno == ESRCH) return words_for(ESRCH);
  // Held now: what /proc tells is of the process that is held.
  if (start_ticks != 0 && sources::start_ticks_of(pid) != start_ticks) {
    let_go();
    return words_for(ESRCH);
  }
  pid_ = pid;
  return {};
}

std::string Target::send(int number) {
  if (pid_ <= 0) return words_for(ESRCH);
  const auto result = handle_ >= 0 ? ::syscall(SYS_pidfd_send_signal, handle_, number, nullptr, 0)
                                   : static_cast<long>(::kill(pid_, number));
  return result == 0 ? std::string() : words_for(errno);
}

void Target::let_go() {
  if (handle_ >= 0) ::close(handle_);
  handle_ = -1;
  pid_ = -1;
}

}  // namespace pyrometer::tui

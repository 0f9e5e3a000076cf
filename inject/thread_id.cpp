#include "thread_id.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace pyrometer::inject {
namespace {

thread_local std::uint32_t cached = 0;

}  // namespace

std::uint32_t thread_id() {
  if (cached == 0) {
    cached = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  }
  return cached;
}

void forget_thread_id() { cached = 0; }

}  // namespace pyrometer::inject

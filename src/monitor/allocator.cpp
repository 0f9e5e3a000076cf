#include "monitor/allocator.h"

#include <malloc.h>

namespace pyrometer::monitor {

void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kBytes = 64 << 20;
  ::mallopt(M_TRIM_THRESHOLD, kBytes);
  ::mallopt(M_MMAP_THRESHOLD, kBytes);
#endif
}

}  // namespace pyrometer::monitor

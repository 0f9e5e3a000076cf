// The Linux id of the calling thread, asked once per thread.
#pragma once

#include <cstdint>

namespace pyrometer::inject {

std::uint32_t thread_id();
void forget_thread_id();  // in a child by fork

}  // namespace pyrometer::inject

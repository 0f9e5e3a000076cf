// Finds shared libraries: those that the process has mapped, and CUPTI.
#pragma once

#include <cstddef>

namespace pyrometer::inject {

inline constexpr std::size_t kPathBytes = 1024;

// Calls `visit` with the path of each mapped shared object, some more than once, until it returns
// true. Whether it did.
using PathVisitor = bool (*)(const char* path, void* user);
bool visit_mapped_libraries(PathVisitor visit, void* user);

// A handle of the mapped library whose file name starts with `prefix` ("libcudart.so"); null if
// there is none. Its path goes to `path` (kPathBytes) unless that is null.
void* mapped_library(const char* prefix, char* path);

// Opens libcupti: the one that is loaded, else the one beside the CUDA libraries that are loaded
// (PyTorch's own), else the system's. Never a second copy. Null if there is none. The variable
// PYROMETER_CUPTI names the one to use instead.
void* open_cupti();

}  // namespace pyrometer::inject

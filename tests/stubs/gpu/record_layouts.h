// The records of CUPTI as the fake libcupti writes them: NVIDIA's own structures where their
// headers were found, else what the library itself believes, with the full size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stub_gpu.h"

namespace stub {

inline constexpr std::size_t kMostRecordBytes = 256;

// Writes the record of an activity; returns its size. `old_layout`: that of CUDA 12. `offset` is
// added to times that are not 0.
std::size_t write_record(const StubActivity& activity, bool old_layout, std::int64_t offset,
                         bool finished, unsigned char* bytes);

// The size of the record that stands at `bytes`, 0 where it is of no known kind.
std::size_t record_size(const unsigned char* bytes, bool old_layout);

}  // namespace stub

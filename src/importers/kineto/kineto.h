// Importer of PyTorch profiler traces: Kineto's Chrome trace JSON.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "importers/importer.h"
#include "importers/kineto/rank_assembler.h"
#include "importers/rank_assignment.h"

namespace pyrometer::importers::kineto {

struct StreamOptions {
  unsigned threads = 1;
  std::size_t block_bytes = 256 * 1024;  // read and parsed at a time: fits the second-level cache
  Progress* progress = nullptr;          // bytes_done is advanced
  std::int64_t patience = 64 << 20;      // bytes without an event after which a file is given up
};

// Any text: what it holds shows only on the way.
[[nodiscard]] bool recognises(std::string_view head);
[[nodiscard]] base::Result<std::vector<Candidate>> import(base::ByteSource& source,
                                                          const ImportOptions& options);

// Reads decompressed text to its end. One trace per document in it that holds events. Errors:
// kEmpty, kFormat, kDamaged, or those of `source` when nothing usable came before.
[[nodiscard]] base::Result<std::vector<ImportedTrace>> import_stream(base::ByteSource& source,
                                                                     const StreamOptions& options);

}  // namespace pyrometer::importers::kineto

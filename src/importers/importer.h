// Importers are front ends: they turn a foreign file into a Timeline. All of them stand in the
// list in registry.cpp; adding one costs a folder, a line there and a CMake line.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/timeline.h"

namespace pyrometer::importers {

// Bytes of (decompressed) input read so far and their expected total, for a progress line. Written
// by importer threads, read by anyone.
struct Progress {
  std::atomic<std::int64_t> bytes_done{0};
  std::atomic<std::int64_t> bytes_total{0};  // 0: not known yet
};

struct ImportOptions {
  unsigned threads = 0;          // that parse; 0: one per core. Decompression has one more
  Progress* progress = nullptr;  // may be null
  // Where given, receives what could not be read although it was asked for, a clause each; the
  // notes have it too.
  std::vector<std::string>* skipped = nullptr;
};

// Imports every path: files (.json, .json.gz, .json.zst), "-" for stdin, folders, tar/tgz/zip
// archives of rank files. Ranks are told apart by distributedInfo, else file name, else order; the
// timeline's notes say which. Damaged input yields what is sound of it, with counters in
// RankTimeline::stats; a path that cannot be read is left out with a note; an error only when
// nothing usable remains.
[[nodiscard]] base::Result<model::Timeline> import_paths(const std::vector<std::string>& paths,
                                                         const ImportOptions& options);

}  // namespace pyrometer::importers

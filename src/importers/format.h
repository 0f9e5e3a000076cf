// One importer: a format that import_paths() can read.
#pragma once

#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "importers/importer.h"
#include "importers/rank_assignment.h"

namespace pyrometer::importers {

struct Format {
  std::string_view name;  // for people
  // Whether a stream that begins with `head` may be of this format. The first that says so gets it.
  bool (*recognises)(std::string_view head);
  // Reads the (decompressed) stream to its end.
  base::Result<std::vector<Candidate>> (*import)(base::ByteSource& source,
                                                 const ImportOptions& options);
};

// All formats, in the order in which they are asked.
[[nodiscard]] const std::vector<Format>& formats();

}  // namespace pyrometer::importers

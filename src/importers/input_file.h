// Opens one input file, whatever it is packed in, and imports the traces in it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "importers/importer.h"
#include "importers/rank_assignment.h"

namespace pyrometer::importers {

struct FileImport {
  std::vector<Candidate> candidates;  // info.file is "path", or "archive:member"
  std::vector<std::string> notes;     // members passed over, and why
};

// "-" is stdin. Content decides, not the name: gzip, zstd, xz, bzip2, lz4, tar, zip and 7z are
// undone, also one inside the other (tgz, a zip of .json.gz files). Errors name the file.
[[nodiscard]] base::Result<FileImport> import_file(const std::string& path,
                                                   const ImportOptions& options);

}  // namespace pyrometer::importers

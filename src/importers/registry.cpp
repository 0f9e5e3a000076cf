#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "base/decompress.h"
#include "base/parallel.h"
#include "importers/format.h"
#include "importers/importer.h"
#include "importers/input_file.h"
#include "importers/input_list.h"
#include "importers/kineto/kineto.h"
#include "importers/rank_assignment.h"

namespace pyrometer::importers {

const std::vector<Format>& formats() {
  // Kineto takes whatever nobody else knows: only reading on can tell that text holds no trace.
  static const std::vector<Format> all = {
      {"PyTorch profiler (Kineto)", kineto::recognises, kineto::import},
  };
  return all;
}

namespace {

using FileResult = base::Result<FileImport>;

// Imports each file on its own thread while there are threads; those to spare help within a file.
std::vector<std::optional<FileResult>> import_files(const std::vector<std::string>& files,
                                                    const ImportOptions& options) {
  std::vector<std::optional<FileResult>> results(files.size());
  const unsigned threads = base::thread_count(options.threads);
  ImportOptions each = options;
  each.threads = std::max(threads / static_cast<unsigned>(std::min<std::size_t>(
                                        threads, std::max<std::size_t>(files.size(), 1))),
                          1U);
  base::for_each_index(files.size(), threads, [&](std::size_t i) {
    try {
      results[i] = import_file(files[i], each);
    } catch (const std::bad_alloc&) {
      results[i] = base::fail({.kind = base::ErrorKind::kResource,
                               .message = "out of memory",
                               .file = files[i],
                               .advice = "Analyse fewer ranks at a time"});
    }
  });
  return results;
}

// Only if it is known of every file: half a total would look like twice the progress.
void announce_total(const std::vector<std::string>& files, Progress* progress) {
  if (progress == nullptr) return;
  std::int64_t total = 0;
  for (const std::string& file : files) {
    const std::int64_t size = base::expected_size(file);
    if (size < 0) return;
    total += size;
  }
  progress->bytes_total = total;
}

}  // namespace

base::Result<model::Timeline> import_paths(const std::vector<std::string>& paths,
                                           const ImportOptions& options) {
  auto inputs = list_inputs(paths);
  if (!inputs) return base::fail(inputs.error());
  announce_total(inputs->files, options.progress);
  auto results = import_files(inputs->files, options);
  std::vector<Candidate> candidates;
  std::vector<std::string> notes = std::move(inputs->notes);
  std::vector<base::Error> errors = std::move(inputs->errors);
  std::optional<base::Error> other;  // of a file that nobody misses
  for (std::size_t i = 0; i < results.size(); ++i) {
    FileResult& result = *results[i];
    if (!result) {
      // A folder may hold JSON of other kinds; a file that was asked for is missed.
      const bool missed = inputs->is_named[i] || result.error().kind != base::ErrorKind::kFormat;
      if (missed) {
        errors.push_back(result.error());
      } else {
        notes.push_back(result.error().to_string());
        if (!other) other = result.error();
      }
      continue;
    }
    for (Candidate& c : result->candidates) candidates.push_back(std::move(c));
    for (std::string& note : result->notes) notes.push_back(std::move(note));
  }
  if (candidates.empty()) return base::fail(errors.empty() ? std::move(*other) : errors.front());
  for (const base::Error& error : errors) {
    notes.push_back(error.to_string());
    if (options.skipped != nullptr) options.skipped->push_back(notes.back());
  }
  model::Timeline timeline = assign_ranks(std::move(candidates));
  timeline.notes.insert(timeline.notes.end(), notes.begin(), notes.end());
  return timeline;
}

}  // namespace pyrometer::importers

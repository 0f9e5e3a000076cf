#include <algorithm>
#include <atomic>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/decompress.h"
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
  unsigned threads = options.threads != 0 ? options.threads : std::thread::hardware_concurrency();
  threads = std::max(threads, 1U);
  const auto workers = static_cast<unsigned>(std::min<std::size_t>(threads, files.size()));
  ImportOptions each = options;
  each.threads = std::max(threads / workers, 1U);
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) {
      try {
        results[i] = import_file(files[i], each);
      } catch (const std::bad_alloc&) {
        results[i] = base::fail({.kind = base::ErrorKind::kResource,
                                 .message = "out of memory",
                                 .file = files[i],
                                 .advice = "Analyse fewer ranks at a time"});
      }
    }
  };
  std::vector<std::jthread> pool;
  try {
    for (unsigned i = 1; i < workers; ++i) pool.emplace_back(work);
  } catch (const std::system_error&) {
    // No more threads to be had: those that run do all of it.
  }
  work();
  pool.clear();  // joins
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
  std::optional<base::Error> first_error;
  for (std::optional<FileResult>& result : results) {
    if (!*result) {
      if (!first_error) first_error = result->error();
      notes.push_back(result->error().to_string());
      continue;
    }
    for (Candidate& c : (*result)->candidates) candidates.push_back(std::move(c));
    for (std::string& note : (*result)->notes) notes.push_back(std::move(note));
  }
  if (candidates.empty()) return base::fail(std::move(*first_error));
  model::Timeline timeline = assign_ranks(std::move(candidates));
  timeline.notes.insert(timeline.notes.end(), notes.begin(), notes.end());
  return timeline;
}

}  // namespace pyrometer::importers

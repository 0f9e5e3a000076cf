#include "importers/kineto/kineto.h"

#include <memory>
#include <optional>

#include "importers/kineto/trace_reader.h"

namespace pyrometer::importers::kineto {

bool recognises(std::string_view /*head*/) { return true; }

base::Result<std::vector<Candidate>> import(base::ByteSource& source,
                                            const ImportOptions& options) {
  StreamOptions stream;
  stream.threads = options.threads;
  stream.progress = options.progress;
  auto traces = import_stream(source, stream);
  if (!traces) return base::fail(traces.error());
  std::vector<Candidate> candidates;
  for (ImportedTrace& trace : *traces) {
    candidates.push_back({std::move(trace.timeline), trace.claimed_rank});
  }
  return candidates;
}

base::Result<std::vector<ImportedTrace>> import_stream(base::ByteSource& source,
                                                       const StreamOptions& options) {
  TraceReader reader;
  // Not a vector: nothing needs to be zeroed.
  const std::unique_ptr<char[]> buffer(
      new char[TraceReader::kHeadroom + options.block_bytes + TraceReader::kPadding]);
  char* text = buffer.get() + TraceReader::kHeadroom;
  std::optional<base::Error> error;
  while (!reader.hopeless()) {
    auto got = base::read_fully(source, text, options.block_bytes);
    if (!got) error = got.error();
    if (!got || *got == 0) break;
    reader.feed(text, *got);
    if (options.progress != nullptr) {
      options.progress->bytes_done.fetch_add(static_cast<std::int64_t>(*got),
                                             std::memory_order_relaxed);
    }
  }
  return reader.finish(error ? &*error : nullptr);
}

}  // namespace pyrometer::importers::kineto

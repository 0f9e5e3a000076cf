#include "importers/kineto/kineto.h"

#include <optional>
#include <utility>

#include "importers/kineto/block_reader.h"
#include "importers/kineto/parallel_reader.h"
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
  // Small traces are done before threads have started.
  constexpr std::size_t kSerialBlocks = 8;
  constexpr std::size_t kBlocksAhead = 4;
  // Twice the reader's headroom: a piece may hold a rest in front and be fed behind another one.
  const BlockReader::Layout layout{2 * TraceReader::kHeadroom, options.block_bytes,
                                   TraceReader::kPadding};
  TraceReader reader(options.patience);
  const bool read_ahead = options.threads > 1 || source.is_costly();
  BlockReader blocks(source, layout, read_ahead ? kBlocksAhead : 0);
  std::optional<ParallelReader> parallel;
  std::optional<base::Error> error;
  for (std::size_t count = 0; !reader.hopeless(); ++count) {
    auto block = blocks.next();
    if (!block) error = block.error();
    if (!block || block->size == 0) break;
    if (options.progress != nullptr) {
      options.progress->bytes_done.fetch_add(static_cast<std::int64_t>(block->size),
                                             std::memory_order_relaxed);
    }
    if (options.threads > 1 && count == kSerialBlocks) parallel.emplace(reader, options.threads);
    if (parallel) {
      parallel->feed(std::move(*block), blocks);
    } else {
      reader.feed(block->text, block->size);
      blocks.recycle(std::move(*block));
    }
  }
  if (parallel) parallel->finish(blocks);
  return reader.finish(error ? &*error : nullptr);
}

}  // namespace pyrometer::importers::kineto

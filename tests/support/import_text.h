// Imports traces out of strings.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/byte_source.h"
#include "importers/kineto/kineto.h"

namespace pyrometer::testing {

inline base::Result<std::vector<importers::kineto::ImportedTrace>> import_all(
    const std::string& text, std::size_t block_bytes = 256 * 1024, unsigned threads = 1) {
  importers::kineto::StreamOptions options;
  options.block_bytes = block_bytes;
  options.threads = threads;
  const auto source = base::memory_source(text);
  return importers::kineto::import_stream(*source, options);
}

// The only trace in `text`; an empty timeline, and a failed test, if there is none or several.
inline model::RankTimeline import_one(const std::string& text, std::size_t block_bytes = 256 * 1024,
                                      unsigned threads = 1) {
  auto traces = import_all(text, block_bytes, threads);
  EXPECT_TRUE(traces.has_value()) << (traces ? "" : traces.error().to_string());
  if (!traces) return {};
  EXPECT_EQ(traces->size(), 1U);
  return std::move(traces->front().timeline);
}

}  // namespace pyrometer::testing

// Fuzz target: any bytes as the text of a Kineto trace.
//
// Besides crashes, hangs and what sanitizers see, it stops at rows that break the timeline's
// promises, and at text that counts as sound but whose timeline depends on how it was cut into
// blocks or on the number of threads.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/byte_source.h"
#include "base/utf8.h"
#include "importers/kineto/kineto.h"
#include "tests/support/timeline_text.h"

namespace {

using pyrometer::importers::kineto::ImportedTrace;
using pyrometer::importers::kineto::StreamOptions;
namespace base = pyrometer::base;
namespace model = pyrometer::model;

using Imported = base::Result<std::vector<ImportedTrace>>;

#define REQUIRE(condition)                                      \
  do {                                                          \
    if (!(condition)) {                                         \
      std::fprintf(stderr, "broken promise: %s\n", #condition); \
      std::abort();                                             \
    }                                                           \
  } while (false)

Imported import(const std::string& text, std::size_t block_bytes, unsigned threads) {
  StreamOptions options;
  options.block_bytes = block_bytes;
  options.threads = threads;
  const auto source = base::memory_source(text);
  return pyrometer::importers::kineto::import_stream(*source, options);
}

void check_text(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const base::CodePoint point = base::decode_utf8(text.substr(i));
    REQUIRE(point.valid);
    REQUIRE(point.value >= 0x20 && point.value != 0x7F);
    i += point.length;
  }
}

template <typename Table>
void check_spans(const Table& table) {
  REQUIRE(table.end.size() == table.start.size());
  REQUIRE(table.name.size() == table.start.size());
  for (std::size_t i = 0; i < table.start.size(); ++i) REQUIRE(table.start[i] <= table.end[i]);
}

void check_promises(const model::RankTimeline& t) {
  for (model::NameId id = 0; id < t.names.size(); ++id) check_text(t.names.view(id));
  check_spans(t.activities);
  check_spans(t.api_calls);
  check_spans(t.host_ops);
  check_spans(t.annotations);
  check_spans(t.python);
  check_spans(t.profiler_overhead);
  check_spans(t.syncs);
  for (const model::ImportCounter& counter : t.stats.counters()) REQUIRE(counter.count > 0);
  REQUIRE(t.info.event_count > 0);
  REQUIRE(t.info.json_bytes > 0);
}

// Every row as text: also proves that all ids and row numbers are within their tables.
std::string all_lines(const Imported& imported) {
  std::string out;
  for (const ImportedTrace& trace : *imported) {
    for (const std::string& line : pyrometer::testing::timeline_lines(trace.timeline)) {
      out += line;
      out += '\n';
    }
  }
  return out;
}

bool is_sound(const Imported& imported) {
  for (const ImportedTrace& trace : *imported) {
    if (!trace.timeline.stats.counters().empty()) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Imported whole = import(text, size + 1, 1);
  // Drawn from the size, so that an input is nothing but the text.
  const std::size_t block = 1 + size * 2654435761U % (size < 200 ? 40 : 2000);
  const Imported pieces = import(text, block, size % 4 == 0 ? 3 : 1);
  for (const Imported* imported : {&whole, &pieces}) {
    if (!*imported) {
      REQUIRE(!imported->error().message.empty());
      continue;
    }
    REQUIRE(!(*imported)->empty());
    for (const ImportedTrace& trace : **imported) check_promises(trace.timeline);
  }
  if (whole && pieces && is_sound(whole) && is_sound(pieces)) {
    REQUIRE(all_lines(whole) == all_lines(pieces));
  }
  return 0;
}

// Parses a piece of a list of events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "importers/kineto/event_decoder.h"
#include "importers/kineto/rows.h"
#include "importers/kineto/structural_index.h"

namespace pyrometer::importers::kineto {

// Where reading stands inside a list of events.
enum class ListState : std::uint8_t {
  kFirst,  // nothing read yet
  kAfterEvent,
  kAfterComma,
  kAfterGap,  // behind damage, at a landmark: what stood before is not known
  kLost,      // after damage: on the way to the next landmark
};

// An event larger than this is taken for damage.
inline constexpr std::size_t kMaxEventBytes = 8 << 20;

// One per worker. Sound text goes through simdjson's index; where that breaks, from the event at
// which it broke, through the byte-by-byte scanner.
class ChunkParser {
 public:
  // A writable buffer: text[size] is overwritten and restored, and 64 bytes after it are readable.
  struct Chunk {
    char* text = nullptr;
    std::size_t size = 0;
    std::int64_t offset = 0;  // of text[0] in the decompressed file
    bool at_end = false;      // no more text will follow
  };
  struct End {
    std::size_t consumed =
        0;                    // what lies behind it needs more text, or belongs to the list's owner
    bool list_ended = false;  // consumed stands behind its `]`
  };

  // Reads events from the start of the chunk as far as they are complete. With at_end, the whole
  // chunk is consumed unless the list ends in it.
  [[nodiscard]] End parse(const Chunk& chunk, ListState& state, ChunkRows& out);

  // For a chunk that is thought to begin behind an event and to end behind one. False when it is
  // not so; then `out` holds no rows that count.
  [[nodiscard]] bool parse_whole(const Chunk& chunk, ChunkRows& out);

 private:
  [[nodiscard]] End parse_ahead(const Chunk& chunk, ListState& state, ChunkRows& out);
  [[nodiscard]] End parse_indexed(const Chunk& chunk, std::size_t cut,
                                  StructuralIndex::Outcome outcome, ListState& state,
                                  ChunkRows& out);
  [[nodiscard]] End walk_index(const Chunk& chunk, std::size_t cut, ListState& state,
                               ChunkRows& out, bool& damaged);
  [[nodiscard]] End parse_tolerant(const Chunk& chunk, std::size_t from, ListState& state,
                                   ChunkRows& out);
  [[nodiscard]] bool pass_foreign_text(const Chunk& chunk, std::size_t& at, ListState& state,
                                       ChunkRows& out);
  [[nodiscard]] bool pass_broken_event(const Chunk& chunk, bool ends_early, std::size_t& at,
                                       ListState& state, ChunkRows& out);
  [[nodiscard]] bool decode_scanned(const Chunk& chunk, ChunkRows& out);
  void mend(const Chunk& chunk, std::size_t begin, std::size_t end, ChunkRows& out);

  StructuralIndex index_;
  EventDecoder decoder_;
  std::vector<std::uint32_t> tokens_;  // of the scanner
};

// The end of the last complete-looking event in `text`: a place behind a `}` from where an event,
// or a comma and an event, follow; or behind the `]` that follows one. 0 when there is none. A
// guess that parsing proves or refutes.
[[nodiscard]] std::size_t guess_cut(std::string_view text);

}  // namespace pyrometer::importers::kineto

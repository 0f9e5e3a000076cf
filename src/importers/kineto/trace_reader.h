// Reads Kineto JSON from front to back: documents, their top-level keys, their lists of events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "importers/kineto/chunk_parser.h"
#include "importers/kineto/metadata.h"
#include "importers/kineto/rank_assembler.h"

namespace pyrometer::importers::kineto {

// A state machine that is fed pieces of text of any size. It understands objects with a
// "traceEvents" list and anything before and after it, bare arrays of events, events in a row
// without an array, several of these one after the other, and foreign text in between.
class TraceReader {
 public:
  // `patience`: bytes of text without an event after which a file is given up.
  explicit TraceReader(std::int64_t patience);

  // Bytes that must be writable before and after the text given to feed().
  static constexpr std::size_t kHeadroom = 64 * 1024;
  static constexpr std::size_t kPadding = 64;

  // feed() for text that lies elsewhere.
  void feed_copy(std::string_view text);

  // Takes the next piece. What is left over of the piece before is copied in front of it, into the
  // headroom, unless it is too large.
  void feed(char* text, std::size_t size);

  // For readers that parse ahead (parallel_reader.h). True when the next text belongs to a list of
  // events and begins behind an event.
  [[nodiscard]] bool inside_events() const {
    return state_ == State::kEvents && list_state_ == ListState::kAfterEvent;
  }
  // What is left over of the text so far, and where in the file it begins. It must be given back,
  // or be covered by add_chunk(), before the next feed().
  [[nodiscard]] std::string take_rest() { return std::exchange(rest_, {}); }
  void give_rest(std::string rest) { rest_ = std::move(rest); }
  [[nodiscard]] std::int64_t offset() const { return offset_; }
  // Takes the new table entries of decoder `decoder` (1 and up; 0 is the reader's own). Each chunk
  // that a decoder has seen, in order, also those whose rows are not used.
  void take_tables(std::size_t decoder, ChunkRows& rows);
  // Takes the rows of the next `size` bytes, which are whole events.
  void add_chunk(std::size_t decoder, const ChunkRows& rows, std::size_t size);

  // True when so much text without a single event has passed that this is no trace.
  [[nodiscard]] bool hopeless() const;

  // The text has ended. One trace for each document that holds events. `source_error`: what ended
  // it before its time, null for a proper end. Errors: kEmpty, kFormat, kDamaged, or the source's
  // own.
  [[nodiscard]] base::Result<std::vector<ImportedTrace>> finish(const base::Error* source_error);

 private:
  enum class State : std::uint8_t {
    kOutside,  // before, between and after documents
    kMembers,  // between the members of a document's object
    kValue,    // inside the value of a member that is no list of events
    kEvents,
  };
  // Runs over text[at, size) as far as it can; returns where it needs more.
  [[nodiscard]] std::size_t run(char* text, std::size_t size, bool at_end);
  // Each takes one step from `at` and returns where to go on; kNeedMore when the text is too short.
  [[nodiscard]] std::size_t step_outside(std::string_view text, std::size_t at, bool at_end);
  [[nodiscard]] std::size_t step_members(std::string_view text, std::size_t at, bool at_end);
  [[nodiscard]] std::size_t step_key(std::string_view text, std::size_t at, bool at_end);
  [[nodiscard]] std::size_t step_value(std::string_view text, std::size_t at);
  [[nodiscard]] std::size_t step_events(char* text, std::size_t size, std::size_t at, bool at_end);
  void end_value();
  void give_up_capture();
  void begin_events();
  void begin_document();
  void end_document(std::size_t at);
  std::size_t pass_over(std::string_view text, std::size_t at, std::size_t count);
  [[nodiscard]] std::int64_t offset_of(std::size_t at) const;
  [[nodiscard]] base::Error nothing_found(const base::Error* source_error) const;

  static constexpr std::size_t kNeedMore = static_cast<std::size_t>(-1);

  State state_ = State::kOutside;
  std::string rest_;         // of the piece before
  std::int64_t offset_ = 0;  // of the text being run over, in the file
  std::int64_t foreign_bytes_ = 0;
  std::int64_t first_foreign_ = -1;
  std::int64_t last_foreign_ = -1;  // where the last stretch of it begins
  std::int64_t document_end_ = 0;   // of the last one with events
  std::int64_t patience_;
  bool in_foreign_ = false;
  bool only_zeros_ = true;       // of what is foreign
  bool saw_empty_list_ = false;  // one that was closed
  bool cut_in_events_ = false;   // the text ends inside a list of events
  bool cut_in_members_ = false;  // the text ends inside a document but outside its events
  bool saw_key_ = false;         // "traceEvents"
  bool saw_document_ = false;

  // The value being passed over or captured.
  std::string key_;
  std::string captured_;
  bool capture_ = false;
  std::int64_t depth_ = 0;
  bool in_string_ = false;
  bool escaped_ = false;

  // The document being read.
  bool in_object_ = false;  // its list is a member of an object
  bool bare_events_ = false;
  std::int64_t document_offset_ = 0;
  TraceMetadata metadata_;
  std::unique_ptr<RankAssembler> assembler_;
  MishapCounts document_mishaps_;

  ChunkParser parser_;
  std::vector<DecoderTables> tables_;  // by decoder
  ChunkRows rows_;
  ListState list_state_ = ListState::kFirst;
  std::size_t window_ = 0;
  std::vector<ImportedTrace> traces_;
};

}  // namespace pyrometer::importers::kineto

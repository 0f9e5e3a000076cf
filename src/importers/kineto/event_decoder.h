// Decodes one event of a Kineto trace at a time into rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "importers/kineto/keys.h"
#include "importers/kineto/local_configs.h"
#include "importers/kineto/local_names.h"
#include "importers/kineto/local_threads.h"
#include "importers/kineto/rows.h"
#include "importers/kineto/tokens.h"

namespace pyrometer::importers::kineto {

// Holds the tables of names, threads and launch configurations that its rows refer to, across
// chunks. One decoder per worker; not thread-safe.
class EventDecoder {
 public:
  // Where the text of a chunk lies, and where its first byte stands in the (decompressed) file.
  struct Chunk {
    const char* base = nullptr;
    std::int64_t offset = 0;
  };

  EventDecoder();
  EventDecoder(const EventDecoder&) = delete;
  EventDecoder& operator=(const EventDecoder&) = delete;
  ~EventDecoder();

  // Decodes the event whose `{` is token `t` and adds its rows to `out`. Returns the token behind
  // its `}`, or nullptr when the text is not an event as JSON has it; then stopped_at() is the
  // token it broke at, and nothing was added. The token list must end as tokens.h says.
  [[nodiscard]] Token decode(const Chunk& chunk, Token t, ChunkRows& out);
  [[nodiscard]] Token stopped_at() const { return stopped_at_; }

  // Moves the new entries of the tables into `out`: call at the end of each chunk.
  void finish_chunk(ChunkRows& out);

 private:
  struct Event;
  struct Extras;

  [[nodiscard]] Token decode_member(EventKey key, Token value, Event& event);
  [[nodiscard]] Token decode_args(Token t, Event& event);
  [[nodiscard]] bool wants_args(const Event& event) const;
  void decode_arg(ArgKey key, Token value, Token next, Event& event);
  void decode_extra(ArgKey key, Token value, Token next);
  [[nodiscard]] LocalId intern_string(Token value);
  [[nodiscard]] LocalId intern_value(Token value, Token next);

  // Rows out of a decoded event (event_rows.cpp).
  void emit(const Event& event);
  void emit_complete(const Event& event);
  void emit_half(const Event& event);
  void emit_metadata(const Event& event);
  void emit_memory(const Event& event);
  void emit_activity(const Event& event, model::ActivityKind kind, std::int64_t end);
  void emit_sync(const Event& event, std::int64_t end);
  [[nodiscard]] HostRow host_row(const Event& event, std::int64_t end);
  [[nodiscard]] LocalId thread_of(const Event& event);
  void place_on_device(const Event& event, std::int32_t& device, std::int32_t& stream);
  [[nodiscard]] std::int64_t offset_of(const Event& event) const;
  void count(Mishap what, const Event& event, std::int64_t times = 1);

  [[nodiscard]] Token stop(Token t) {
    stopped_at_ = t;
    return nullptr;
  }
  [[nodiscard]] Token stop_inside(Token t);
  [[nodiscard]] Token stop_at_nul(Token t);

  Chunk chunk_;
  ChunkRows* out_ = nullptr;
  Token stopped_at_ = nullptr;

  std::unique_ptr<Extras> extras_;
  LocalNames names_;
  LocalThreads threads_;
  LocalConfigs configs_;
};

}  // namespace pyrometer::importers::kineto

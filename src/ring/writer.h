// The writing side of a ring, for the recorded process: no exceptions, no allocation after create,
// never blocks on the reader. Safe from many threads. After fork the child's copy is dead: every
// call does nothing there. Does not run in signal handlers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "ring/intern_table.h"
#include "ring/layout.h"

namespace pyrometer::ring {

enum class CreateError : std::uint8_t {
  kNone,
  kSessionOver,  // the session's folder is gone
  kNoRoom,       // no space, no memory or no access
};

// ns of CLOCK_MONOTONIC.
std::uint64_t monotonic_ns();

class Writer {
 public:
  // Makes <folder>/<pid>-<ticks>.ring with its space reserved, so that writing never faults.
  // `slot_count` is a power of two. Null on failure, with the reason. Never freed: other threads
  // may be inside.
  static Writer* create(std::string_view folder, std::uint32_t slot_count, CreateError* error);

  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // False in a child process that has inherited this writer, however it was forked.
  bool live() const { return alive_->load(std::memory_order_relaxed) != 0; }

  // The id of a name, defined in the ring before this returns. 0 for the empty string, and where
  // there is no room for the definition now. Cut at kMaxStringBytes, with "…" for the rest.
  std::uint32_t intern_name(std::string_view name);

  // The same for a launch configuration; its `id` is not read.
  std::uint32_t intern_config(const KernelConfigBody& config);

  // Writes a record of one slot. False: dropped and counted. `Body` is one of layout.h.
  template <typename Body>
  bool write(RecordType type, std::uint32_t thread, const Body& body) {
    static_assert(sizeof(Body) <= kBodyBytes);
    return write_bytes(type, thread, &body, sizeof(Body));
  }

  // Whether a record of one slot would find room now: for what can wait.
  bool has_room() const;

  // Counts a record of this type as lost.
  void count_drop(RecordType type);

  // Status words, the monitor's words.
  Header& header() { return *header_; }

  // Whether the process that opened this ring for reading is known to have ended.
  bool reader_ended() const;

  // Removes the file's name: the process shall not be recorded. Memory stays mapped.
  void unlink_file();

 private:
  Writer() = default;

  CreateError make_file(std::string_view folder, std::uint32_t slot_count);
  CreateError map_file(int fd, std::uint32_t slot_count);
  void fill_header(std::uint32_t slot_count, std::uint64_t start_ticks);
  bool init_tables();
  std::uint32_t intern(InternTable& table, RecordType type, const char* bytes, std::size_t length);
  bool reserve(RecordType type, std::uint32_t slots, std::uint64_t* position);
  void publish(std::uint64_t position);
  bool write_bytes(RecordType type, std::uint32_t thread, const void* body, std::size_t size);
  bool write_string(std::uint32_t id, const char* bytes, std::size_t length);
  Slot& slot_at(std::uint64_t position) { return slots_[position & mask_]; }

  Header* header_ = nullptr;
  Slot* slots_ = nullptr;
  std::uint64_t mask_ = 0;
  std::atomic<std::uint32_t>* alive_ = nullptr;  // on a page that is zero in a forked child
  InternTable names_;
  InternTable configs_;
  // Of the reader, learnt when it was first seen alive: in another pid namespace it never is.
  mutable std::atomic<bool> reader_seen_{false};
  char path_[512] = {};
};

}  // namespace pyrometer::ring

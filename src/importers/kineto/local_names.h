// The names of one decoder: raw text to id, with what is decided once per distinct name.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "importers/kineto/readable_text.h"
#include "importers/kineto/rows.h"
#include "model/timeline.h"

namespace pyrometer::importers::kineto {

struct NameTraits {
  TextFlaws flaws;
  bool wants_shapes = false;  // an operator whose input shapes some pass reads
  bool is_memory = false;     // "[memory]"
  bool is_hip = false;        // hipLaunchKernel and the like
  bool is_range = false;      // a profiler range, whatever category an old trace gave it
  model::CopyKind copy = model::CopyKind::kUnknown;
  model::HostMemory host = model::HostMemory::kUnknown;
};

// Keys are the bytes between the quotes as they stand in the file; unescaping and mending happen
// once per distinct text. Two raw texts may stand for one name and then have two ids. Id 0 is the
// empty name. Not thread-safe; views stay valid as long as the object.
class LocalNames {
 public:
  LocalNames();

  [[nodiscard]] LocalId intern(std::string_view raw);
  [[nodiscard]] std::string_view text(LocalId id) const { return entries_[id].text; }
  [[nodiscard]] const NameTraits& traits(LocalId id) const { return entries_[id].traits; }

  // Moves the texts of the ids that are new since the last call into `out`.
  void take_new(std::vector<std::string_view>& out);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::string_view raw;
    std::string_view text;  // readable: valid UTF-8 without control characters
    NameTraits traits;
  };
  [[nodiscard]] LocalId add(std::string_view raw, std::uint64_t hash);
  void grow();
  [[nodiscard]] std::string_view store(std::string_view bytes);

  std::vector<Entry> entries_;
  std::vector<LocalId> slots_;  // open addressing, power of two, kNone = free
  std::size_t published_ = 0;
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_used_ = 0;
  std::size_t block_size_ = 0;
};

// Kind and host side of a copy from its name, e.g. "Memcpy HtoD (Pageable -> Device)", or from its
// "kind" argument, e.g. "HtoD".
void classify_copy(std::string_view name, model::CopyKind& copy, model::HostMemory& host);

}  // namespace pyrometer::importers::kineto

// A byte source in blocks with room before and behind them, read ahead by a thread of its own.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/byte_source.h"

namespace pyrometer::importers::kineto {

// Some text in a buffer. `memory` begins `headroom` bytes before the text, and some padding
// follows.
struct Block {
  std::unique_ptr<char[]> memory;
  char* text = nullptr;
  std::size_t size = 0;
};

// One consumer. With `ahead` > 0, a thread reads (and decompresses) up to so many blocks ahead;
// with 0 the consumer's own thread reads.
class BlockReader {
 public:
  struct Layout {
    std::size_t headroom = 0;
    std::size_t bytes = 0;
    std::size_t padding = 0;
  };
  BlockReader(base::ByteSource& source, Layout layout, std::size_t ahead);
  BlockReader(const BlockReader&) = delete;
  BlockReader& operator=(const BlockReader&) = delete;
  ~BlockReader();

  // The next block; one of size 0 at the end. An error of the source comes after all that was read
  // before it.
  [[nodiscard]] base::Result<Block> next();
  // Gives a block's memory back for reuse.
  void recycle(Block block);

 private:
  [[nodiscard]] base::Result<Block> read_block();
  [[nodiscard]] Block empty_block();
  void read_ahead(const std::stop_token& stop);

  base::ByteSource& source_;
  Layout layout_;
  std::size_t ahead_;
  bool began_ = false;  // a block has been read
  bool ended_ = false;  // within the first block
  std::mutex mutex_;    // guards what follows
  std::condition_variable_any changed_;
  std::deque<base::Result<Block>> ready_;
  std::vector<std::unique_ptr<char[]>> free_;
  bool done_ = false;    // the last entry of ready_ is the end or an error
  std::jthread thread_;  // last: it must end before the rest goes
};

}  // namespace pyrometer::importers::kineto

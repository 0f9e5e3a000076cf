#include "importers/kineto/block_reader.h"

#include <new>
#include <utility>

namespace pyrometer::importers::kineto {

BlockReader::BlockReader(base::ByteSource& source, Layout layout, std::size_t ahead)
    : source_(source), layout_(layout), ahead_(ahead) {}

BlockReader::~BlockReader() = default;

base::Result<Block> BlockReader::next() {
  if (ahead_ == 0) return read_block();
  if (!thread_.joinable()) {
    // What fits into one block needs no thread: an archive may hold thousands of small members.
    if (!began_ || ended_) {
      began_ = true;
      base::Result<Block> block = read_block();
      ended_ = !block || block->size < layout_.bytes;
      return block;
    }
    thread_ = std::jthread([this](const std::stop_token& stop) { read_ahead(stop); });
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !ready_.empty(); });
  // The end, or an error, stays and is given again.
  if (done_ && ready_.size() == 1) {
    if (!ready_.front()) return base::fail(ready_.front().error());
    return Block{};
  }
  base::Result<Block> block = std::move(ready_.front());
  ready_.pop_front();
  changed_.notify_all();
  return block;
}

void BlockReader::recycle(Block block) {
  if (!block.memory) return;
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(block.memory));
}

base::Result<Block> BlockReader::read_block() {
  Block block = empty_block();
  auto got = base::read_fully(source_, block.text, layout_.bytes);
  if (!got) return base::fail(got.error());
  block.size = *got;
  return block;
}

Block BlockReader::empty_block() {
  Block block;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      block.memory = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!block.memory) {
    // Not make_unique: nothing needs to be zeroed.
    block.memory.reset(new char[layout_.headroom + layout_.bytes + layout_.padding]);
  }
  block.text = block.memory.get() + layout_.headroom;
  return block;
}

void BlockReader::read_ahead(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    base::Result<Block> block = base::fail({});
    try {
      block = read_block();
    } catch (const std::bad_alloc&) {
      block = base::fail({.kind = base::ErrorKind::kResource, .message = "out of memory"});
    }
    const bool last = !block || block->size == 0;
    std::unique_lock lock(mutex_);
    const bool room = changed_.wait(lock, stop, [this] { return ready_.size() < ahead_; });
    if (!room) return;
    ready_.push_back(std::move(block));
    done_ = last;
    changed_.notify_all();
    if (last) return;
  }
}

}  // namespace pyrometer::importers::kineto

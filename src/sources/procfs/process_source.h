// Readings of a tree of processes: each of them, and all together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "sources/procfs/process_tree.h"
#include "sources/source.h"

namespace pyrometer::sources {

class ProcessSource final : public Source {
 public:
  ProcessSource(std::string root, int root_pid, int reaper_pid);

  [[nodiscard]] std::string_view name() const override { return "process tree"; }
  [[nodiscard]] std::span<const Group> groups() const override;
  [[nodiscard]] base::Result<void> start() override;
  [[nodiscard]] base::Result<void> sample(std::size_t group, Batch& batch) override;
  void stop() noexcept override {}

 private:
  // What the kernel keeps for threads alone, added up over those that were seen.
  struct ThreadWaits {
    std::unordered_map<int, std::uint64_t> last;
    std::uint64_t sum = 0;
  };

  void put_events(Batch& batch);
  void put_identity(const TreeMember& member, Batch& batch);
  void put_fast(const TreeMember& member, std::int64_t time, Batch& batch);
  void put_slow(const TreeMember& member, Batch& batch);
  void put_io(const TreeMember& member, Batch& batch);
  void put_memory(const TreeMember& member, Batch& batch);
  void put_status(const TreeMember& member, Batch& batch);
  void put_thread_waits(const TreeMember& member, Batch& batch);
  void put_tree(Batch& batch);
  void put_tree_slow(Batch& batch);
  [[nodiscard]] Value io_delay(const TreeMember& member) const;

  ProcReader files_;
  ProcessTree tree_;
  double ns_per_tick_;
  double page_bytes_;
  enum class DelayAccounting : std::uint8_t { kOn, kOff, kUnknown } delays_;
  std::unordered_map<int, ThreadWaits> waits_;
  std::uint64_t threads_left_ = 0;  // that may still be read in this round

  // Of the slow round under way, for the whole tree.
  struct Sums {
    double resident_private = 0, shared_most = 0, read = 0, written = 0;
    bool memory_known = false, io_known = false;
  } sums_;
  // Storage traffic of ended processes that no live one's counters hold.
  double read_carried_ = 0, written_carried_ = 0, read_last_ = 0, written_last_ = 0;
};

}  // namespace pyrometer::sources

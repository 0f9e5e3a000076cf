// The reading side of a ring, for the monitor. Everything in the file is foreign: whatever bytes a
// recorded process leaves there, the reader neither crashes nor hangs. (A process of the same user
// that cuts its own file short within the microseconds of a poll can still end the monitor by
// SIGBUS; it could as well kill it.) Not thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ring/layout.h"

namespace pyrometer::ring {

// Takes records in the order in which they were written. `thread` is a Linux thread id, 0 where
// none applies. A name or config id may be one that was never defined: rings are foreign.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  virtual void on_string(std::uint32_t id, std::string_view text) = 0;
  virtual void on_config(const KernelConfigBody& config) = 0;
  virtual void on_kernel(std::uint32_t thread, const ActivityBody& kernel) = 0;
  virtual void on_copy(std::uint32_t thread, const ActivityBody& copy) = 0;
  virtual void on_memset(std::uint32_t thread, const ActivityBody& memset) = 0;
  virtual void on_api_call(std::uint32_t thread, const ApiCallBody& call) = 0;
  virtual void on_sync(std::uint32_t thread, const SyncBody& sync) = 0;
  virtual void on_range(std::uint32_t thread, const RangeBody& range) = 0;
  virtual void on_counter(std::uint32_t thread, const CounterBody& counter) = 0;
  virtual void on_info(const InfoBody& info) = 0;
  virtual void on_capture(const CaptureBody& capture) = 0;
  virtual void on_loss(const LossBody& loss) = 0;
};

struct ReaderCounts {
  std::uint64_t records = 0;
  std::uint64_t malformed = 0;    // published slots that held no sound record
  std::uint64_t passed_over = 0;  // slots that a dead writer left unpublished, or partly so
};

class Reader {
 public:
  // Opens <pid>-<ticks>.ring. Errors: no such file, not this user's, or not a sound ring.
  static base::Result<Reader> open(const std::string& path);

  Reader(Reader&& other) noexcept;
  Reader& operator=(Reader&& other) noexcept;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader();

  // Delivers what is published, `most` records at most; returns how many. A record that its writer
  // has not finished holds up those behind it, until it is finished or its writer is dead.
  std::size_t poll(RecordSink& sink, std::size_t most = std::numeric_limits<std::size_t>::max());

  // True once the process has ended; poll() after that delivers all that is left. Asks /proc.
  bool writer_ended();

  // Nothing is left to deliver (a live writer may write more).
  [[nodiscard]] bool drained() const;

  // The ring's ends make no sense any more, or the file was cut short: poll() delivers nothing.
  [[nodiscard]] bool corrupt() const { return corrupt_; }

  [[nodiscard]] const ReaderCounts& counts() const { return counts_; }
  // Records that the writer dropped because the ring was full, by RecordType.
  [[nodiscard]] std::array<std::uint64_t, kRecordTypes> dropped() const;

  [[nodiscard]] std::uint32_t pid() const { return pid_; }
  [[nodiscard]] std::uint32_t parent_pid() const { return parent_pid_; }
  [[nodiscard]] std::uint64_t process_start_ticks() const { return start_ticks_; }
  [[nodiscard]] std::uint64_t created() const { return created_; }
  [[nodiscard]] std::uint32_t slot_count() const { return static_cast<std::uint32_t>(mask_ + 1); }
  [[nodiscard]] WriterState state() const;
  [[nodiscard]] CaptureReason state_reason() const;
  [[nodiscard]] std::uint32_t cupti_version() const;
  [[nodiscard]] std::uint64_t own_cpu_ns() const;

  // The monitor lives; `now` in ns of CLOCK_MONOTONIC. At least once a second.
  void beat(std::uint64_t now);
  // ControlBits as a whole.
  void set_control(std::uint32_t bits);
  [[nodiscard]] std::uint32_t control() const;

  // Removes the file's name; this reader and the writer keep the memory.
  void unlink();

 private:
  Reader() = default;

  base::Result<void> check_header(const std::string& name);
  void introduce();
  bool check_size();
  bool published(std::uint64_t position) const;
  std::uint64_t head();
  // Slots to move on by; 0: not yet.
  std::uint32_t take(RecordSink& sink);
  std::uint32_t take_string(RecordSink& sink, const Slot& first);
  void release();
  const Slot& slot_at(std::uint64_t position) const { return slots_[position & mask_]; }

  std::string path_;
  int fd_ = -1;
  Header* header_ = nullptr;
  const Slot* slots_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint64_t mask_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t end_ = 0;  // the head, when it was last read
  // Copies from the header as it was when it was checked.
  std::uint32_t pid_ = 0;
  std::uint32_t parent_pid_ = 0;
  std::uint64_t start_ticks_ = 0;
  std::uint64_t created_ = 0;
  bool corrupt_ = false;
  bool ended_ = false;
  ReaderCounts counts_;
};

}  // namespace pyrometer::ring

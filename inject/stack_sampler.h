// Where the training thread is, some times a second: lines of the program, counted.
//
// A thread of its own looks at the training thread's Python stack (PythonStack) at moments that
// have nothing to do with what that thread does, and looks as it is at that moment. So the share of
// the samples that a line has is its share of the time, whether it computes in Python, waits, or is
// inside of C code, with Python's lock or without it. The training thread does nothing for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "python_stack.h"
#include "ring/writer.h"
#include "source_places.h"
#include "worker.h"

namespace pyrometer::inject {

class StackSampler final : private WorkerTasks {
 public:
  // The calling thread, which holds Python's lock, is the one to look at. Arguments: those of
  // PythonStack and SourcePlaces. Null, or why it cannot be done. Not while it runs.
  const char* prepare(std::uint32_t version, const char* folders);

  // "file:line function" of each frame as of now, innermost first, a line each, as much as fits
  // into `size` bytes with a zero at the end; returns its length. Not while it runs.
  std::uint32_t look(char* text, std::uint32_t size) const;

  // Samples whenever the monitor asks (kControlStackSampler), until `stop`. False: not prepared, or
  // no thread could be made.
  bool start();
  // What has been counted is told, and the thread gone, before it returns; waits for a fifth of a
  // second at most.
  void stop();

  // What the training thread is doing: a pyrometer_hook_phase. Written by it, of static lifetime.
  std::uint8_t* phase() { return &phase_; }

  void forget_after_fork();

 private:
  struct Line {
    std::uint32_t name = 0;  // id of the text; 0: free
    std::uint32_t samples = 0;
  };
  static constexpr std::size_t kLines = 256;  // told of at once

  bool run(std::uint32_t requests) override;
  std::uint32_t next_period_ms();
  // A text that is put together in place.
  struct Text {
    char* bytes;
    std::size_t room;
    std::size_t length = 0;
    bool add(std::string_view part);
  };

  bool describe(Text* text, std::size_t* without_innermost) const;
  void sample(ring::Writer& writer);
  bool add_place(const PythonStack::Frame& frame, const PythonStack::Code& code,
                 std::string_view file, Text* text) const;
  void count(ring::Writer& writer, std::string_view text, std::string_view without_innermost);
  void tell(ring::Writer& writer, std::uint64_t now);

  PythonStack stack_;
  SourcePlaces places_;
  Worker worker_;
  std::atomic<bool> prepared_{false};
  std::atomic<std::uint32_t> thread_{0};  // the worker's, once it has run
  std::uint8_t phase_ = 0;

  // Of the worker.
  Line lines_[kLines] = {};
  std::uint64_t known_[1024] = {};  // a bit for each id that has been told
  std::uint32_t known_count_ = 0;
  std::uint32_t unreadable_ = 0;  // since the last telling
  std::uint32_t unreadable_in_a_row_ = 0;
  std::uint64_t told_ = 0;  // ns
  std::uint64_t random_ = 0;
  std::uint32_t period_ms_ = 0;
};

StackSampler& stack_sampler();

}  // namespace pyrometer::inject

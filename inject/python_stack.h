// Reads a thread's Python stack from another thread, without the interpreter: its frames and code
// objects are copied out of memory by a system call that fails, and never faults, where nothing is
// mapped any more. So the thread that is looked at is neither stopped nor asked, and Python's lock
// is not taken: who takes it waits until that thread gives it up, which some lines never do and
// others do all the time.
//
// What is copied while it changes may make no sense: types are checked, and what does not fit is
// reported as unreadable. The layouts are those of CPython's releases 3.7 to 3.14 on 64-bit
// systems; `prepare` knows no other, and its caller compares what `file` and `line` say with what
// Python itself says before he believes them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pyrometer::inject {

struct PythonLayout;

// UTF-8, without a zero at the end.
struct PythonText {
  static constexpr std::size_t kMost = 1024;
  char bytes[kMost];
  std::size_t length = 0;
};

class PythonStack {
 public:
  struct Frame {
    std::uint64_t code = 0;         // address of its code object
    std::uint64_t instruction = 0;  // the address, or before 3.11 the index, of what it executes
    std::uint64_t outer = 0;        // address of the frame that called it
  };

  // On the thread that shall be looked at, which holds Python's lock. `version`: PY_VERSION_HEX
  // without its two lowest bytes, 0x030B for 3.11. Null, or why it cannot be done.
  const char* prepare(std::uint32_t version);
  bool prepared() const { return thread_ != 0; }
  void forget() { thread_ = 0; }

  // The innermost frame, and from one to the next outer one. False: there is none, or it is
  // unreadable.
  bool innermost(Frame* frame) const;
  bool outer(Frame* frame) const;

  // What is read of a code object at once: each copy is a system call.
  struct Code {
    std::uint64_t file = 0, function = 0;  // addresses of texts
    std::uint64_t lines = 0;               // of the table
    std::int32_t first_line = 0;
  };
  // False: unreadable.
  bool code(const Frame& frame, Code* code) const;
  bool text(std::uint64_t address, PythonText* text) const;
  // 0: the instruction has no line, or it is unreadable.
  std::int32_t line(const Frame& frame, const Code& code) const;

 private:
  const PythonLayout* layout_ = nullptr;
  std::uint64_t thread_ = 0;     // PyThreadState
  std::uint64_t code_type_ = 0;  // PyCode_Type
  std::uint64_t text_type_ = 0;  // PyUnicode_Type
};

}  // namespace pyrometer::inject

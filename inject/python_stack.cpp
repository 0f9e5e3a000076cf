#include "python_stack.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace pyrometer::inject {

enum class LineTable : std::uint8_t {
  kPairs,      // to 3.9: Objects/lnotab_notes.txt
  kRanges,     // 3.10: the same file there
  kLocations,  // from 3.11 on: Objects/locations.md
};

enum class Position : std::uint8_t { kBytes, kUnits, kAddress };  // what a frame knows

// Offsets in bytes, of CPython's structures on a 64-bit system.
struct PythonLayout {
  std::uint32_t version;
  // PyThreadState: the frame, or from 3.11 to 3.12 a _PyCFrame that has it.
  std::uint8_t thread_frame;
  bool through_cframe;
  std::uint8_t cframe_frame;
  // PyFrameObject, from 3.11 on _PyInterpreterFrame.
  std::uint8_t frame_code, frame_previous, frame_position;
  Position position;
  std::uint8_t frame_owner;  // 0: there is none
  // PyCodeObject.
  std::uint8_t code_first_line, code_file, code_name, code_lines, code_instructions;
  LineTable lines;
  // PyASCIIObject and PyCompactUnicodeObject: where the characters are.
  std::uint8_t ascii_text, compact_text;
};

namespace {

constexpr PythonLayout kLayouts[] = {
    {0x0307, 24, false, 0, 32, 24, 104, Position::kBytes, 0,  //
     36, 96, 104, 112, 0, LineTable::kPairs, 48, 72},
    {0x0308, 24, false, 0, 32, 24, 104, Position::kBytes, 0,  //
     40, 104, 112, 120, 0, LineTable::kPairs, 48, 72},
    {0x0309, 24, false, 0, 32, 24, 104, Position::kBytes, 0,  //
     40, 104, 112, 120, 0, LineTable::kPairs, 48, 72},
    {0x030A, 24, false, 0, 32, 24, 96, Position::kUnits, 0,  //
     40, 104, 112, 120, 0, LineTable::kRanges, 48, 72},
    {0x030B, 56, true, 8, 32, 48, 56, Position::kAddress, 69,  //
     72, 112, 120, 136, 184, LineTable::kLocations, 48, 72},
    {0x030C, 56, true, 0, 0, 8, 56, Position::kAddress, 70,  //
     68, 112, 120, 136, 192, LineTable::kLocations, 40, 56},
    {0x030D, 72, false, 0, 0, 8, 56, Position::kAddress, 70,  //
     68, 112, 120, 136, 200, LineTable::kLocations, 40, 56},
    {0x030E, 72, false, 0, 0, 8, 56, Position::kAddress, 74,  //
     68, 112, 120, 136, 208, LineTable::kLocations, 40, 56},
};

constexpr std::size_t kFrameBytes = 112;
constexpr std::size_t kCodeBytes = 144;  // what is read of a code object lies in these
// From here on a frame's owner is no function of Python: the C stack (3.11 to 3.13, 4 in 3.14) or,
// in 3.14, the interpreter.
constexpr std::uint8_t kOwnedByNoFunction = 3;
// 3.14 marks references that it does not count, in bits that addresses of objects do not use.
constexpr std::uint64_t kReferenceMarks = 7;
constexpr std::uint32_t kUnit = 2;  // bytes of an instruction

// PyObject, PyVarObject, PyBytesObject, PyASCIIObject: the same in all of these releases.
constexpr std::size_t kType = 8;
constexpr std::size_t kSize = 16;
constexpr std::size_t kBytesText = 32;
constexpr std::size_t kTextLength = 16;
constexpr std::size_t kTextState = 32;

// False where not all of it is mapped, or the system does not allow it.
bool copy(std::uint64_t address, void* to, std::size_t size) {
  iovec here{.iov_base = to, .iov_len = size};
  iovec there{.iov_base = reinterpret_cast<void*>(address), .iov_len = size};  // NOLINT
  return address != 0 && ::syscall(SYS_process_vm_readv, ::getpid(), &here, 1UL, &there, 1UL,
                                   0UL) == static_cast<long>(size);
}

template <typename Value>
Value at(const std::uint8_t* bytes, std::size_t offset) {
  Value value;
  std::memcpy(&value, bytes + offset, sizeof value);
  return value;
}

bool copy_pointer(std::uint64_t address, std::uint64_t* pointer) {
  return copy(address, pointer, sizeof *pointer);
}

void append_utf8(std::uint32_t point, PythonText* text) {
  if ((point >= 0xD800 && point < 0xE000) || point > 0x10FFFF) {
    point = '?';  // part of a name that is no text
  }
  char* to = text->bytes + text->length;
  if (point < 0x80) {
    to[0] = static_cast<char>(point);
    text->length += 1;
  } else if (point < 0x800) {
    to[0] = static_cast<char>(0xC0U | (point >> 6U));
    to[1] = static_cast<char>(0x80U | (point & 0x3FU));
    text->length += 2;
  } else if (point < 0x10000) {
    to[0] = static_cast<char>(0xE0U | (point >> 12U));
    to[1] = static_cast<char>(0x80U | ((point >> 6U) & 0x3FU));
    to[2] = static_cast<char>(0x80U | (point & 0x3FU));
    text->length += 3;
  } else {
    to[0] = static_cast<char>(0xF0U | (point >> 18U));
    to[1] = static_cast<char>(0x80U | ((point >> 12U) & 0x3FU));
    to[2] = static_cast<char>(0x80U | ((point >> 6U) & 0x3FU));
    to[3] = static_cast<char>(0x80U | (point & 0x3FU));
    text->length += 4;
  }
}

// A table that is read in pieces: those of long functions have thousands of bytes.
class TableReader {
 public:
  TableReader(std::uint64_t address, std::uint64_t size) : address_(address), left_(size) {}

  // -1: the end, or unreadable.
  int next() {
    if (position_ == filled_ && !fill()) {
      return -1;
    }
    return piece_[position_++];
  }
  int peek() { return position_ == filled_ && !fill() ? -1 : piece_[position_]; }

 private:
  bool fill() {
    const std::size_t size = std::min<std::uint64_t>(left_, sizeof piece_);
    position_ = filled_ = 0;
    if (size == 0 || !copy(address_, piece_, size)) {
      return false;
    }
    address_ += size;
    left_ -= size;
    filled_ = size;
    return true;
  }

  std::uint64_t address_;
  std::uint64_t left_;
  std::uint8_t piece_[512];
  std::size_t position_ = 0, filled_ = 0;
};

// Tables that change while they are read may add up to anything: wraps round instead of
// overflowing.
std::int32_t add(std::int32_t line, std::int32_t delta) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(line) +
                                   static_cast<std::uint32_t>(delta));
}

std::int32_t line_by_pairs(TableReader table, std::int32_t line, std::uint32_t wanted) {
  std::uint32_t address = 0;
  for (;;) {
    const int step = table.next();
    const int delta = table.next();
    if (delta < 0) {
      return line;
    }
    address += static_cast<std::uint32_t>(step);
    if (address > wanted) {
      return line;
    }
    line = add(line, static_cast<std::int8_t>(delta));
  }
}

std::int32_t line_by_ranges(TableReader table, std::int32_t line, std::uint32_t wanted) {
  constexpr int kNoLine = -128;
  std::uint32_t end = 0;
  for (;;) {
    const int length = table.next();
    const int raw = table.next();
    if (raw < 0) {
      return 0;
    }
    const int delta = static_cast<std::int8_t>(raw);
    if (delta != kNoLine) {
      line = add(line, delta);
    }
    end += static_cast<std::uint32_t>(length);
    if (wanted < end) {
      return delta == kNoLine ? 0 : line;
    }
  }
}

std::int32_t read_signed(TableReader& table) {
  std::uint32_t value = 0;
  for (std::uint32_t shift = 0; shift < 32; shift += 6) {
    const int byte = table.next();
    if (byte < 0) {
      return 0;
    }
    value |= (static_cast<std::uint32_t>(byte) & 0x3FU) << shift;
    if ((static_cast<unsigned>(byte) & 0x40U) == 0) {
      break;
    }
  }
  const auto size = static_cast<std::int32_t>(value >> 1U);
  return (value & 1U) != 0 ? -size : size;
}

std::int32_t line_by_locations(TableReader table, std::int32_t line, std::uint32_t wanted) {
  constexpr unsigned kNoLocation = 15, kLong = 14, kNoColumns = 13, kOneLine = 10;
  std::uint32_t end = 0;
  for (;;) {
    const int first = table.next();
    if (first < 0) {
      return 0;
    }
    const auto byte = static_cast<unsigned>(first);
    const unsigned code = (byte >> 3U) & 15U;
    if (code == kLong || code == kNoColumns) {
      line = add(line, read_signed(table));
    } else if (code >= kOneLine && code < kNoColumns) {
      line = add(line, static_cast<std::int32_t>(code - kOneLine));
    }
    while (table.peek() >= 0 && (static_cast<unsigned>(table.peek()) & 0x80U) == 0) {
      (void)table.next();
    }
    end += ((byte & 7U) + 1) * kUnit;
    if (wanted < end) {
      return code == kNoLocation ? 0 : line;
    }
  }
}

}  // namespace

const char* PythonStack::prepare(std::uint32_t version) {
  forget();
  if (sizeof(void*) != 8) {
    return "not a 64-bit system";
  }
  layout_ = nullptr;
  for (const PythonLayout& layout : kLayouts) {
    if (layout.version == version) {
      layout_ = &layout;
    }
  }
  if (layout_ == nullptr) {
    return "this version of Python is not known";
  }
  // Python's own, found in whatever has been loaded: nothing is linked.
  void* current = ::dlsym(RTLD_DEFAULT, "PyThreadState_Get");
  void* code_type = ::dlsym(RTLD_DEFAULT, "PyCode_Type");
  void* text_type = ::dlsym(RTLD_DEFAULT, "PyUnicode_Type");
  if (current == nullptr || code_type == nullptr || text_type == nullptr) {
    return "Python's symbols are not visible";
  }
  code_type_ = reinterpret_cast<std::uint64_t>(code_type);
  text_type_ = reinterpret_cast<std::uint64_t>(text_type);
  const auto thread = reinterpret_cast<std::uint64_t>(reinterpret_cast<void* (*)()>(current)());
  std::uint64_t probe = 0;
  if (!copy_pointer(thread, &probe)) {
    return "this system does not let a process read its memory by process_vm_readv";
  }
  thread_ = thread;
  return nullptr;
}

bool PythonStack::innermost(Frame* frame) const {
  std::uint64_t address = 0;
  if (!prepared() || !copy_pointer(thread_ + layout_->thread_frame, &address)) {
    return false;
  }
  if (layout_->through_cframe && !copy_pointer(address + layout_->cframe_frame, &address)) {
    return false;
  }
  frame->outer = address;
  return outer(frame);
}

bool PythonStack::outer(Frame* frame) const {
  const PythonLayout& l = *layout_;
  // The frames of C functions that call Python are passed over; there is one for each call.
  for (int shims = 0; shims < 2; ++shims) {
    std::uint8_t bytes[kFrameBytes];
    if (!copy(frame->outer, bytes, sizeof bytes)) {
      return false;
    }
    frame->outer = at<std::uint64_t>(bytes, l.frame_previous);
    if (l.frame_owner != 0 && bytes[l.frame_owner] >= kOwnedByNoFunction) {
      continue;
    }
    frame->code = at<std::uint64_t>(bytes, l.frame_code) & ~kReferenceMarks;
    frame->instruction = l.position == Position::kAddress
                             ? at<std::uint64_t>(bytes, l.frame_position)
                             : static_cast<std::uint64_t>(static_cast<std::int64_t>(
                                   at<std::int32_t>(bytes, l.frame_position)));
    return true;
  }
  return false;
}

bool PythonStack::text(std::uint64_t address, PythonText* text) const {
  text->length = 0;
  // Most names lie in the bytes that are copied with their head.
  std::uint8_t head[256];
  const bool whole = copy(address, head, sizeof head);
  if ((!whole && !copy(address, head, kTextState + 8)) ||
      at<std::uint64_t>(head, kType) != text_type_) {
    return false;
  }
  const auto length = at<std::uint64_t>(head, kTextLength);
  const auto state = at<std::uint32_t>(head, kTextState);
  const std::uint32_t width = (state >> 2U) & 7U;
  const bool compact = (state & 0x20U) != 0;
  const bool ascii = (state & 0x40U) != 0;
  constexpr std::size_t kMostPoints = PythonText::kMost / 4;
  if (!compact || (width != 1 && width != 2 && width != 4)) {
    return false;
  }
  if (ascii) {
    if (length > PythonText::kMost) {
      return false;
    }
    text->length = length;
    if (whole && layout_->ascii_text + length <= sizeof head) {
      std::memcpy(text->bytes, head + layout_->ascii_text, length);
      return true;
    }
    return length == 0 || copy(address + layout_->ascii_text, text->bytes, length);
  }
  std::uint8_t points[kMostPoints * 4];
  if (length > kMostPoints || !copy(address + layout_->compact_text, points, length * width)) {
    return false;
  }
  for (std::size_t i = 0; i < length; ++i) {
    append_utf8(width == 1   ? points[i]
                : width == 2 ? at<std::uint16_t>(points, i * 2)
                             : at<std::uint32_t>(points, i * 4),
                text);
  }
  return true;
}

bool PythonStack::code(const Frame& frame, Code* code) const {
  std::uint8_t bytes[kCodeBytes];
  if (!copy(frame.code, bytes, sizeof bytes) || at<std::uint64_t>(bytes, kType) != code_type_) {
    return false;
  }
  code->file = at<std::uint64_t>(bytes, layout_->code_file);
  code->function = at<std::uint64_t>(bytes, layout_->code_name);
  code->lines = at<std::uint64_t>(bytes, layout_->code_lines);
  code->first_line = at<std::int32_t>(bytes, layout_->code_first_line);
  return true;
}

std::int32_t PythonStack::line(const Frame& frame, const Code& code) const {
  const PythonLayout& l = *layout_;
  std::uint64_t offset = 0;
  switch (l.position) {
    case Position::kBytes:
      offset = frame.instruction;
      break;
    case Position::kUnits:
      offset = frame.instruction * kUnit;
      break;
    case Position::kAddress:
      offset = frame.instruction - (frame.code + l.code_instructions);
      break;
  }
  const std::int32_t first = code.first_line;
  if (static_cast<std::int64_t>(offset) < 0) {
    return first;  // nothing of it has been executed yet
  }
  constexpr std::uint64_t kMostCode = std::uint64_t{1} << 24U;
  std::uint64_t length = 0;
  if (offset >= kMostCode || !copy_pointer(code.lines + kSize, &length) || length > kMostCode) {
    return 0;
  }
  const TableReader table(code.lines + kBytesText, length);
  const auto wanted = static_cast<std::uint32_t>(offset);
  switch (l.lines) {
    case LineTable::kPairs:
      return line_by_pairs(table, first, wanted);
    case LineTable::kRanges:
      return line_by_ranges(table, first, wanted);
    case LineTable::kLocations:
      return line_by_locations(table, first, wanted);
  }
  return 0;
}

}  // namespace pyrometer::inject

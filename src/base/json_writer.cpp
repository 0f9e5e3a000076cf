#include "base/json_writer.h"

#include <array>
#include <cassert>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/utf8.h"

namespace pyrometer::base {
namespace {

constexpr std::size_t kFlushBytes = std::size_t{64} * 1024;
constexpr std::size_t kIndent = 2;

// Printable ASCII that needs no escape.
bool is_plain(char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

// Controls of ASCII and C1, line separators, and characters that turn the direction of text.
bool is_steering(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

void append_escape(std::string& out, char32_t c) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) out += kDigits[(c >> shift) & 0xF];
}

template <typename Number>
void append_number(std::string& out, Number number) {
  std::array<char, 32> digits{};  // the longest double has 24 characters
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  assert(error == std::errc{});
  out.append(digits.data(), end);
}

}  // namespace

JsonWriter::JsonWriter(TextSink sink) : sink_(std::move(sink)) {
  buffer_.reserve(kFlushBytes + kFlushBytes / 8);
}

void JsonWriter::begin(char bracket, JsonLayout layout) {
  before_value();
  const bool is_inline =
      layout == JsonLayout::kInline || (!levels_.empty() && levels_.back().is_inline);
  levels_.push_back({.is_object = bracket == '{', .is_inline = is_inline});
  buffer_ += bracket;
}

void JsonWriter::end(char bracket) {
  assert(!levels_.empty() && levels_.back().is_object == (bracket == '}') && !after_key_);
  const Level level = levels_.back();
  levels_.pop_back();
  if (!level.empty && !level.is_inline) new_line(levels_.size());
  buffer_ += bracket;
  flush_if_large();
}

void JsonWriter::key(std::string_view name) {
  assert(!levels_.empty() && levels_.back().is_object && !after_key_);
  separate(levels_.back());
  write_string(name);
  buffer_ += ": ";
  after_key_ = true;
}

void JsonWriter::before_value() {
  if (levels_.empty()) return;
  if (after_key_) {
    after_key_ = false;
    return;
  }
  assert(!levels_.back().is_object);
  separate(levels_.back());
}

void JsonWriter::separate(Level& level) {
  if (!level.empty) buffer_ += level.is_inline ? ", " : ",";
  level.empty = false;
  if (!level.is_inline) new_line(levels_.size());
}

void JsonWriter::new_line(std::size_t depth) {
  buffer_ += '\n';
  buffer_.append(depth * kIndent, ' ');
}

void JsonWriter::null() {
  before_value();
  buffer_ += "null";
}

void JsonWriter::value(bool truth) {
  before_value();
  buffer_ += truth ? "true" : "false";
}

void JsonWriter::value(double number) {
  if (!std::isfinite(number)) {
    null();
    return;
  }
  before_value();
  append_number(buffer_, number == 0 ? 0.0 : number);  // -0 is an accident, not information
}

void JsonWriter::value(std::string_view text) {
  before_value();
  write_string(text);
  flush_if_large();
}

void JsonWriter::write_signed(std::int64_t number) {
  before_value();
  append_number(buffer_, number);
}

void JsonWriter::write_unsigned(std::uint64_t number) {
  before_value();
  append_number(buffer_, number);
}

void JsonWriter::write_string(std::string_view text) {
  buffer_ += '"';
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    buffer_.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;

    const CodePoint point = decode_utf8(text);
    switch (point.value) {
      case '"':
        buffer_ += "\\\"";
        break;
      case '\\':
        buffer_ += "\\\\";
        break;
      case '\n':
        buffer_ += "\\n";
        break;
      case '\r':
        buffer_ += "\\r";
        break;
      case '\t':
        buffer_ += "\\t";
        break;
      default:
        if (is_steering(point.value)) {
          append_escape(buffer_, point.value);
        } else if (point.valid) {
          buffer_.append(text.substr(0, point.length));
        } else {
          buffer_ += "\xEF\xBF\xBD";  // U+FFFD
        }
    }
    text.remove_prefix(point.length);
  }
  buffer_ += '"';
}

void JsonWriter::flush_if_large() {
  if (buffer_.size() >= kFlushBytes) flush();
}

void JsonWriter::flush() {
  if (!refused_ && !buffer_.empty()) refused_ = !sink_(buffer_);
  buffer_.clear();
}

bool JsonWriter::finish() {
  assert(levels_.empty() && !after_key_);
  buffer_ += '\n';
  flush();
  return !refused_;
}

}  // namespace pyrometer::base

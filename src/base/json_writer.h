// The only JSON writer of Pyrometer: streaming, strict, in the order in which it is called.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pyrometer::base {

// Takes the text in pieces, in order. Returns false to be given no more (reader gone, disk full).
using TextSink = std::function<bool(std::string_view)>;

// How the members of an object or array are laid out.
enum class JsonLayout : unsigned char {
  kLines,   // one to a line, indented
  kInline,  // all on one line, nested ones too: for rows of a table
};

// Writes one JSON value (RFC 8259) to a sink, 64 KiB at a time. Whatever is passed in, the output
// is valid JSON and valid UTF-8: broken UTF-8 becomes U+FFFD, numbers that JSON does not know (NaN,
// infinity) become null. Control characters and those that turn
// the direction of text are escaped, so that the output can be shown on a terminal. The calls must
// nest properly (asserted): inside an object each value needs a key() before it, inside an array
// none. Not thread-safe.
class JsonWriter {
 public:
  explicit JsonWriter(TextSink sink);
  ~JsonWriter() = default;
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;

  void begin_object(JsonLayout layout = JsonLayout::kLines) { begin('{', layout); }
  void end_object() { end('}'); }
  void begin_array(JsonLayout layout = JsonLayout::kLines) { begin('[', layout); }
  void end_array() { end(']'); }
  void key(std::string_view name);

  void null();
  void value(bool truth);
  void value(double number);  // shortest text that reads back as the same number
  void value(std::string_view text);
  void value(const std::string& text) { value(std::string_view(text)); }
  void value(const char* text) { value(std::string_view(text)); }
  template <std::integral Number>
  void value(Number number) {
    if constexpr (std::signed_integral<Number>) {
      write_signed(number);
    } else {
      write_unsigned(number);
    }
  }
  template <typename T>
  void value(const std::optional<T>& maybe) {
    if (maybe) {
      value(*maybe);
    } else {
      null();
    }
  }
  template <typename T>
  void member(std::string_view name, const T& content) {
    key(name);
    value(content);
  }

  // Ends the document with a newline and hands the rest to the sink. False when the sink refused
  // something.
  [[nodiscard]] bool finish();

 private:
  struct Level {
    bool is_object = false;
    bool is_inline = false;
    bool empty = true;
  };

  void begin(char bracket, JsonLayout layout);
  void end(char bracket);
  void before_value();
  void separate(Level& level);
  void new_line(std::size_t depth);
  void write_signed(std::int64_t number);
  void write_unsigned(std::uint64_t number);
  void write_string(std::string_view text);
  void flush_if_large();
  void flush();

  TextSink sink_;
  std::string buffer_;
  std::vector<Level> levels_;
  bool after_key_ = false;
  bool refused_ = false;
};

}  // namespace pyrometer::base

// Small files of /proc and /sys, read whole, and the words and numbers in them.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/reading.h"

namespace pyrometer::sources {

class ProcReader {
 public:
  // `root` is put before every path: "" for the real ones.
  explicit ProcReader(std::string root);

  // The file's content (1 MiB at most), valid until the next call. Nothing where it cannot be read;
  // gap() then says why.
  [[nodiscard]] std::optional<std::string_view> read(std::string_view path);
  [[nodiscard]] Gap gap() const;
  [[nodiscard]] int error() const { return error_; }  // errno of the last read
  [[nodiscard]] const std::string& root() const { return root_; }

  // Content as one number, without the newline; nothing where it is something else ("max").
  [[nodiscard]] std::optional<std::uint64_t> read_number(std::string_view path);

 private:
  std::string root_;
  std::string path_;
  std::vector<char> buffer_;
  int error_ = 0;
};

// Splits off the first line, without its newline.
[[nodiscard]] inline std::string_view take_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// Splits off the first word (blanks and tabs separate); empty at the end.
[[nodiscard]] inline std::string_view take_word(std::string_view& text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return text = {};
  text.remove_prefix(begin);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text.remove_prefix(word.size());
  return word;
}

[[nodiscard]] inline std::optional<std::uint64_t> to_number(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, problem] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (problem != std::errc{} || end != word.data() + word.size()) return std::nullopt;
  return number;
}

[[nodiscard]] inline std::optional<std::uint64_t> take_number(std::string_view& text) {
  return to_number(take_word(text));
}

[[nodiscard]] inline std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\n\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n\r") - begin + 1);
}

// Number of CPUs in a list such as "0-3,8"; nothing where it is no list.
[[nodiscard]] std::optional<std::uint64_t> count_list(std::string_view list);

// The number as a reading, or why it is not there.
[[nodiscard]] inline Value number_or(const std::optional<std::uint64_t>& number, Absence absence,
                                     std::string_view text = {}) {
  return number ? Value::number(static_cast<double>(*number)) : Value::missing(absence, text);
}

}  // namespace pyrometer::sources

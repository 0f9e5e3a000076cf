// Lines of text for a terminal: inks, wrapping, tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "output/report.h"
#include "output/table.h"

namespace pyrometer::output {

// What a run of text means; becomes a colour where colours are wanted.
enum class Ink : std::uint8_t {
  kPlain,
  kStrong,  // what to read first
  kFaint,   // what may be skipped
  kBad,     // critical
  kWarn,    // warning, avoidable time
  kGood,    // useful time
  kInfo,    // other time of the device
};

struct Span {
  std::string text;
  Ink ink = Ink::kPlain;
};

// Collects lines. Every text passes through printable() here, so nothing of a trace's names can
// steer the terminal. Prose wraps at the width, at most 100 columns.
class Page {
 public:
  explicit Page(const TextStyle& style);

  [[nodiscard]] int width() const { return width_; }
  [[nodiscard]] bool unicode() const { return unicode_; }

  void blank();
  void heading(std::string_view text);
  // One line, whatever its length.
  void line(const std::vector<Span>& spans);
  // Wrapped between words; the first line is indented by `indent`, the others by `hang`. A number
  // and its unit stay together; a word longer than a line stands alone.
  void paragraph(int indent, int hang, const std::vector<Span>& spans);
  // A label in a column of its own, and text wrapped beside it.
  void labelled(int indent, int label_width, std::string_view label, const std::vector<Span>& text);
  // Code that can be copied, indented by `indent`; by `least` where it is too wide for that, and
  // then broken where the language allows it (fit_code).
  void code(int indent, int least, std::string_view text);
  void table(int indent, const Table& table);

  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  [[nodiscard]] std::string inked(std::string_view clean, Ink ink) const;

  std::string out_;
  int width_;
  bool color_;
  bool unicode_;
};

}  // namespace pyrometer::output

#include "output/code_lines.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "output/display.h"

namespace pyrometer::output {
namespace {

constexpr std::size_t kContinued = 4;  // columns that the rest of a broken line is indented by

// Where a line may be broken, the best first.
enum Break : std::uint8_t {
  kAfterComma,  // in brackets: after a comma or an opening bracket
  kInBrackets,  // in brackets: at a space
  kAtSpace,     // elsewhere, with a backslash
  kBeforeDot,   // of a long dotted name
  kBreakKinds,
  kNoBreak,
};

bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

// Walks over code, keeping track of brackets and strings.
class Scanner {
 public:
  explicit Scanner(int depth) : depth_(depth) {}

  [[nodiscard]] int depth() const { return depth_; }
  [[nodiscard]] bool in_string() const { return quote_ != 0; }

  void pass(char c) {
    if (quote_ != 0) {
      if (c == quote_) quote_ = 0;
      return;
    }
    if (c == '\'' || c == '"') quote_ = c;
    if (opens(c)) ++depth_;
    if (closes(c)) --depth_;
  }

 private:
  int depth_;
  char quote_ = 0;
};

// The kind of break that is possible before `at`.
Break break_before(std::string_view line, std::size_t at, const Scanner& scanner) {
  if (scanner.in_string() || at == 0 || at >= line.size()) return kNoBreak;
  const char before = line[at - 1];
  const bool bracketed = scanner.depth() > 0;
  if (opens(before) && closes(line[at])) return kNoBreak;  // a call without arguments
  if (bracketed && (opens(before) || (before == ' ' && at > 1 && line[at - 2] == ','))) {
    return kAfterComma;
  }
  if (before == ' ' && line[at] != ' ') return bracketed ? kInBrackets : kAtSpace;
  const bool name_before = (before >= 'a' && before <= 'z') || before == '_' || before == ')';
  return line[at] == '.' && name_before ? kBeforeDot : kNoBreak;
}

// The place at which to break code that begins at `depth`, 0 when there is none. Both halves of a
// break are to be shorter than the whole, or nothing is gained.
struct Place {
  std::size_t at = 0;
  bool backslash = false;
};

Place best_place(std::string_view line, std::size_t indent, int depth, int width) {
  std::array<Place, kBreakKinds> last{};   // of each kind, that fits
  std::array<Place, kBreakKinds> first{};  // of each kind
  Scanner scanner(depth);
  for (std::size_t at = 0; at < line.size(); ++at) {
    const Break kind = at > indent ? break_before(line, at, scanner) : kNoBreak;
    if (kind != kNoBreak) {
      const Place place{at, scanner.depth() <= 0};
      std::string_view head = line.substr(0, at);
      while (head.ends_with(' ')) head.remove_suffix(1);
      const int needed = display_width(head) + (place.backslash ? 2 : 0);
      if (needed <= width) last[kind] = place;
      if (first[kind].at == 0 && at > indent + kContinued) first[kind] = place;
    }
    scanner.pass(line[at]);
  }
  for (const auto& places : {last, first}) {
    for (const Place& place : places) {
      // The rest starts at the deeper indent: a break that leaves no more behind is none.
      if (place.at > indent + kContinued) return place;
    }
  }
  return {};
}

void fit_statement(std::string line, std::size_t indent, int& depth, int width,
                   std::vector<std::string>& out) {
  std::size_t continued = depth > 0 ? indent : indent + kContinued;
  while (display_width(line) > width) {
    const Place place = best_place(line, indent, depth, width);
    if (place.at == 0) break;
    std::string head = line.substr(0, place.at);
    while (head.ends_with(' ')) head.pop_back();
    Scanner scanner(depth);
    for (const char c : head) scanner.pass(c);
    depth = scanner.depth();
    out.push_back(place.backslash ? head + " \\" : head);
    line = std::string(continued, ' ') + line.substr(place.at);
    indent = continued;
  }
  Scanner scanner(depth);
  for (const char c : line) scanner.pass(c);
  depth = scanner.depth();
  out.push_back(std::move(line));
}

void fit_comment(std::string_view text, std::size_t indent, int width,
                 std::vector<std::string>& out) {
  const std::string start = std::string(indent, ' ') + "#";
  std::string row = start;
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(" #"), text.size()));
    std::string_view word = text.substr(0, text.find(' '));
    // The setting of a variable is the only long word there is: its value goes on the next line.
    const std::size_t equals = word.find('=');
    if (display_width(start) + 1 + display_width(word) > width && equals != word.npos) {
      word = word.substr(0, equals + 1);
    }
    if (word.empty()) break;
    if (row != start && display_width(row) + 1 + display_width(word) > width) {
      out.push_back(row);
      row = start;
    }
    (row += ' ') += word;
    text.remove_prefix(word.size());
  }
  out.push_back(row);
}

// Where a comment behind code begins, the line's size without one.
std::size_t comment_at(std::string_view line, int depth) {
  Scanner scanner(depth);
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '#' && !scanner.in_string()) return i;
    scanner.pass(line[i]);
  }
  return line.size();
}

}  // namespace

std::vector<std::string> fit_code(std::string_view code, int width) {
  std::vector<std::string> out;
  int depth = 0;  // of brackets open since an earlier line
  while (!code.empty()) {
    const std::size_t end = std::min(code.find('\n'), code.size());
    std::string line(code.substr(0, end));
    code.remove_prefix(std::min(end + 1, code.size()));
    std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (display_width(line) > width) {
      if (depth > 0 && indent > kContinued) {  // aligned with the bracket: no room for that
        line.erase(0, indent - kContinued);
        indent = kContinued;
      }
      const std::size_t comment = comment_at(line, depth);
      if (comment < line.size() && display_width(line) > width) {
        fit_comment(std::string_view(line).substr(comment), indent, width, out);
        line.resize(comment);
        while (line.ends_with(' ')) line.pop_back();
        if (line.empty()) continue;
      }
    }
    fit_statement(std::move(line), indent, depth, width, out);
  }
  return out;
}

}  // namespace pyrometer::output

#include "output/display.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <vector>

#include "base/utf8.h"

namespace pyrometer::output {
namespace {

struct CodeRange {
  char32_t first;
  char32_t last;
};

bool in_ranges(char32_t c, std::span<const CodeRange> sorted) {
  const auto after = std::upper_bound(sorted.begin(), sorted.end(), c,
                                      [](char32_t v, const CodeRange& r) { return v < r.first; });
  return after != sorted.begin() && c <= std::prev(after)->last;
}

// General category Mn and Me of the scripts in use, variation selectors included.
constexpr CodeRange kCombining[] = {
    {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x0610, 0x061A},  {0x064B, 0x065F},
    {0x0900, 0x0902}, {0x093C, 0x093C}, {0x0941, 0x0948}, {0x0E31, 0x0E31},  {0x0E34, 0x0E3A},
    {0x0E47, 0x0E4E}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x20D0, 0x20FF},  {0x302A, 0x302D},
    {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF}};

// East_Asian_Width W and F (Unicode 15), emoji presentation included.
constexpr CodeRange kWide[] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x23F0, 0x23F0},
    {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},   {0x2648, 0x2653},
    {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},   {0x26AA, 0x26AB},
    {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},   {0x26D4, 0x26D4},
    {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},   {0x26FA, 0x26FA},
    {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},   {0x2728, 0x2728},
    {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},   {0x2757, 0x2757},
    {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},   {0x2B1B, 0x2B1C},
    {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},   {0x3041, 0x33FF},
    {0x3400, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x16FE0, 0x18CFF}, {0x1B000, 0x1B2FF}, {0x1F004, 0x1F004}, {0x1F0CF, 0x1F0CF},
    {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F200, 0x1F320}, {0x1F32D, 0x1F335},
    {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA}, {0x1F3CF, 0x1F3D3},
    {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E}, {0x1F440, 0x1F440},
    {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E}, {0x1F550, 0x1F567},
    {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4}, {0x1F5FB, 0x1F64F},
    {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D2}, {0x1F6D5, 0x1F6DF},
    {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FC}, {0x1F7E0, 0x1F7EB}, {0x1F90C, 0x1F93A},
    {0x1F93C, 0x1F945}, {0x1F947, 0x1F9FF}, {0x1FA70, 0x1FAFF}, {0x20000, 0x3FFFD}};

// Characters that change how others are shown, or are not seen at all.
constexpr CodeRange kDeceptive[] = {{0x00AD, 0x00AD}, {0x061C, 0x061C}, {0x180E, 0x180E},
                                    {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x206F},
                                    {0xFEFF, 0xFEFF}, {0xFFF0, 0xFFFB}, {0xE0000, 0xE007F}};

int code_point_width(char32_t c) {
  if (c < 0x300) return 1;
  if (in_ranges(c, kCombining)) return 0;
  return in_ranges(c, kWide) ? 2 : 1;
}

struct Spelling {
  char32_t sign;
  std::string_view ascii;
};

constexpr Spelling kSpellings[] = {
    {0x00A0, " "},  {0x00B0, ""},     {0x00B1, "+/-"}, {0x00B5, "u"},  {0x00B7, "|"},
    {0x00D7, "x"},  {0x2013, "-"},    {0x2014, "-"},   {0x2018, "'"},  {0x2019, "'"},
    {0x201C, "\""}, {0x201D, "\""},   {0x2026, ".."},  {0x2032, "'"},  {0x2192, "->"},
    {0x2212, "-"},  {0x2248, "~"},    {0x2260, "!="},  {0x2264, "<="}, {0x2265, ">="},
    {0x03BC, "u"},  {0x03C3, "sigma"}};

void append_ascii(std::string& out, char32_t c) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.sign == c) {
      out += spelling.ascii;
      return;
    }
  }
  out += '?';
}

bool is_plain_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
}

// The longest end of printable text that takes at most `width` columns.
std::string_view back_part(std::string_view text, int width) {
  std::size_t begin = text.size();
  while (begin > 0) {
    std::size_t previous = begin - 1;
    while (previous > 0 && (static_cast<unsigned char>(text[previous]) & 0xC0U) == 0x80) --previous;
    width -= code_point_width(base::decode_utf8(text.substr(previous)).value);
    if (width < 0) break;
    begin = previous;
  }
  return text.substr(begin);
}

bool is_identifier(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$';
}

constexpr std::string_view kAnonymous = "(anonymous namespace)";

// "void f<int>(int, long)" → "f<int>".
std::string without_signature(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  if (name.ends_with(" const")) name.remove_suffix(6);
  if (!name.ends_with(')')) return std::string(name);
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == ')') ++depth;
    if (name[i] == '(' && --depth == 0) {
      const bool is_arguments = i > 0 && !name.substr(i).starts_with(kAnonymous);
      return std::string(is_arguments ? name.substr(0, i) : name);
    }
  }
  return std::string(name);
}

// Skips a balanced group that begins at `begin`, such as "(int, f<long>)"; the end of the text when
// it never ends.
std::size_t after_group(std::string_view text, std::size_t begin, char open, char close) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return i + 1;
  }
  return text.size();
}

// "g<f(int)::{lambda()#1}::operator()() const::{lambda(float)#2}>" → "g<f>": a functor is known by
// the function that it was written in.
std::string without_lambdas(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size();) {
    const std::string_view rest = name.substr(i);
    if (rest.starts_with("::{lambda(")) {
      i = after_group(name, i + 2, '{', '}');
    } else if (rest.starts_with("::operator()")) {
      i += 12;
    } else if (rest.front() == '(' && !out.empty() && !rest.starts_with(kAnonymous) &&
               (is_identifier(out.back()) || out.back() == '>')) {
      i = after_group(name, i, '(', ')');
    } else if (rest.starts_with("() const")) {
      i += 8;
    } else if (rest.starts_with(" const::")) {
      i += 6;
    } else {
      out += name[i++];
    }
  }
  return out;
}

// "at::native::f<c10::Half>" → "f<Half>".
std::string without_namespaces(std::string_view name) {
  std::string out;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!name.substr(i).starts_with("::")) {
      out += name[i];
      continue;
    }
    ++i;
    if (out.ends_with(kAnonymous)) {
      out.resize(out.size() - kAnonymous.size());
    } else if (!out.empty() && is_identifier(out.back())) {
      while (!out.empty() && is_identifier(out.back())) out.pop_back();
    } else if (!out.empty()) {
      out += "::";  // qualified by something else, such as a template
    }
  }
  return out;
}

// Template arguments nested deeper than `keep` levels become an ellipsis.
std::string with_shallow_templates(std::string_view name, int keep, std::string_view ellipsis) {
  std::string out;
  int depth = 0;
  for (const char c : name) {
    if (c == '<') {
      if (depth++ == keep) (out += c) += ellipsis;
    } else if (c == '>' && depth > 0) {
      --depth;
    }
    if (depth <= keep) out += c;
  }
  return out;
}

// Numbers, flags and arrays of pointers: what template arguments say least.
bool is_plain_argument(std::string_view argument) {
  if (argument == "true" || argument == "false") return true;
  if (argument.starts_with("array<") || argument.starts_with("OffsetCalculator<")) return true;
  return !argument.empty() && argument.find_first_not_of("0123456789ul") == std::string_view::npos;
}

// "f<4, Add<…>, array<…>>" → "f<Add<…>>". An argument list of nothing else stays.
std::string without_plain_arguments(std::string_view name) {
  const std::size_t open = name.find('<');
  if (open == std::string_view::npos) return std::string(name);
  const std::size_t end = after_group(name, open, '<', '>');
  std::string kept;
  int depth = 0;
  std::size_t begin = open + 1;
  for (std::size_t i = begin; i < end; ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth >= 0 && (depth > 0 || name[i] != ',')) continue;
    const std::string_view argument = name.substr(begin, i - begin);
    if (!is_plain_argument(argument)) {
      if (!kept.empty()) kept += ", ";
      kept += argument;
    }
    begin = i + (name.substr(i).starts_with(", ") ? 2 : 1);
  }
  if (kept.empty()) return std::string(name);
  return std::string(name.substr(0, open + 1)) + kept + ">" + std::string(name.substr(end));
}

}  // namespace

std::string printable(std::string_view text, bool unicode) {
  if (is_plain_ascii(text)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const base::CodePoint point = base::decode_utf8(text);
    const char32_t c = point.value;
    const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
    if (c == '\n' || c == '\r' || c == '\t') {
      out += ' ';
    } else if (!point.valid || control || in_ranges(c, kDeceptive)) {
      out += unicode ? "\xEF\xBF\xBD" : "?";
    } else if (c < 0x80 || unicode) {
      out += text.substr(0, point.length);
    } else {
      append_ascii(out, c);
    }
    text.remove_prefix(point.length);
  }
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const base::CodePoint point = base::decode_utf8(text);
    width += code_point_width(point.value);
    text.remove_prefix(point.length);
  }
  return width;
}

std::string_view front_part(std::string_view text, int width) {
  std::size_t end = 0;
  while (end < text.size()) {
    const base::CodePoint point = base::decode_utf8(text.substr(end));
    width -= code_point_width(point.value);
    if (width < 0 && end > 0) break;
    end += point.length;
  }
  return text.substr(0, end);
}

std::string shorten_middle(std::string_view text, int width, bool unicode) {
  std::string clean = printable(text, unicode);
  width = std::max(width, 1);
  if (display_width(clean) <= width) return clean;
  const std::string_view ellipsis = unicode ? "…" : "..";
  const int room = width - display_width(ellipsis);
  if (room < 2) return std::string(front_part(clean, width));
  const int back = room * 2 / 5;
  std::string out(front_part(clean, room - back));
  out += ellipsis;
  out += back_part(clean, back);
  return out;
}

std::string shorten_symbol(std::string_view name, int width, bool unicode) {
  std::string text = printable(name, unicode);
  const auto fits = [&] { return display_width(text) <= width; };
  if (fits()) return text;
  text = without_signature(text);
  if (fits()) return text;
  text = without_namespaces(without_lambdas(text));
  for (std::size_t at = text.find("> >"); at != std::string::npos; at = text.find("> >", at)) {
    text.erase(at + 1, 1);
  }
  const std::string_view ellipsis = unicode ? "…" : "..";
  for (int keep = 3; keep >= 1 && !fits(); --keep) {
    text = with_shallow_templates(text, keep, ellipsis);
  }
  if (!fits()) text = without_plain_arguments(text);
  return shorten_middle(text, width, unicode);
}

std::string pad_right(std::string text, int width) {
  const int missing = width - display_width(text);
  if (missing > 0) text.append(static_cast<std::size_t>(missing), ' ');
  return text;
}

std::string pad_left(const std::string& text, int width) {
  const int missing = width - display_width(text);
  return missing > 0 ? std::string(static_cast<std::size_t>(missing), ' ') + text : text;
}

}  // namespace pyrometer::output

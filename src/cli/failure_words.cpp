#include "cli/failure_words.h"

#include <algorithm>
#include <array>
#include <vector>

namespace pyrometer::cli {
namespace {

constexpr std::size_t kMost = 300;  // bytes

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string shortened(std::string_view text) {
  if (text.size() <= kMost) return std::string(text);
  std::size_t end = kMost;
  // Not within a character of several bytes.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "…";
}

// Launchers put the rank before each line: "[rank0]: ", "[default0]:".
std::string_view without_rank(std::string_view line) {
  if (!line.starts_with('[')) return line;
  const std::size_t close = line.find("]:");
  constexpr std::size_t kLongest = 40;
  if (close == line.npos || close > kLongest) return line;
  line.remove_prefix(close + 2);
  if (line.starts_with(' ')) line.remove_prefix(1);
  return line;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(without_rank(line));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct Frame {
  std::string_view file, line, function;
};

// `  File "train.py", line 12, in step`; an empty file: it is no frame.
Frame frame_of(std::string_view line) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  constexpr std::string_view kIn = ", in ";
  line = trimmed(line);
  const std::size_t at = line.find(kLine);
  if (!line.starts_with(kFile) || at == line.npos) return {};
  const std::string_view rest = line.substr(at + kLine.size());
  const std::size_t in = rest.find(kIn);
  return {.file = line.substr(kFile.size(), at - kFile.size()),
          .line = rest.substr(0, std::min(rest.find(','), rest.size())),
          .function = in == rest.npos ? std::string_view() : rest.substr(in + kIn.size())};
}

// Neither of Python nor of what was installed into it.
bool is_users(std::string_view file) {
  constexpr std::array<std::string_view, 6> kForeign = {"/site-packages/", "/dist-packages/",
                                                        "/lib/python",     "/lib64/python",
                                                        "<frozen ",        "/pyrometer_hook/"};
  return std::none_of(kForeign.begin(), kForeign.end(),
                      [file](std::string_view part) { return file.find(part) != file.npos; });
}

// What a launcher says of a rank that failed tells nothing that the rank has not told.
bool is_launchers(std::string_view exception) {
  constexpr std::array<std::string_view, 3> kNames = {"ChildFailedError", "CalledProcessError",
                                                      "SignalException"};
  const std::string_view name = exception.substr(0, exception.find(':'));
  return std::any_of(kNames.begin(), kNames.end(),
                     [name](std::string_view one) { return name.ends_with(one); });
}

bool is_indented(std::string_view line) { return line.starts_with(' ') || line.starts_with('\t'); }

std::string words_of(std::string_view exception, const Frame& frame) {
  std::string where;
  if (!frame.file.empty()) {
    const std::size_t slash = frame.file.rfind('/');
    where = " (" + std::string(frame.file.substr(slash == frame.file.npos ? 0 : slash + 1)) + ":" +
            std::string(frame.line);
    if (!frame.function.empty() && frame.function != "<module>") {
      where += ", in " + std::string(frame.function);
    }
    where += ")";
  }
  return shortened(exception) + shortened(where);
}

}  // namespace

std::string traceback_words(std::string_view output) {
  std::string found, launchers;
  const std::vector<std::string_view> lines = lines_of(output);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!lines[i].starts_with("Traceback (most recent call last):")) continue;
    Frame own;
    std::size_t at = i + 1;
    for (; at < lines.size() && (is_indented(lines[at]) || lines[at].empty()); ++at) {
      const Frame frame = frame_of(lines[at]);
      if (!frame.file.empty() && is_users(frame.file)) own = frame;
    }
    if (at == lines.size()) break;  // it was cut off
    std::string words = words_of(trimmed(lines[at]), own);
    (is_launchers(lines[at]) ? launchers : found) = std::move(words);
    i = at - 1;
  }
  return found.empty() ? launchers : found;
}

std::string failure_words(std::string_view output) {
  std::string words = traceback_words(output);
  return words.empty() ? last_line(output) : words;
}

std::string last_line(std::string_view output) {
  const std::string_view text = trimmed(output);
  const std::size_t line = text.rfind('\n');
  return shortened(trimmed(text.substr(line == text.npos ? 0 : line + 1)));
}

}  // namespace pyrometer::cli

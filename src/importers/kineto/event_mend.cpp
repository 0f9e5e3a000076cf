// mend_event(): reads what can be read of an event that is not valid JSON.
#include <algorithm>
#include <array>
#include <map>

#include "importers/kineto/event_scan.h"
#include "importers/kineto/numbers.h"
#include "importers/kineto/readable_text.h"
#include "importers/kineto/tokens.h"

namespace pyrometer::importers::kineto {
namespace {

constexpr std::array<std::string_view, 7> kEventKeys = {"ph",  "cat", "name", "pid",
                                                        "tid", "ts",  "dur"};
constexpr std::array<std::string_view, 28> kArgKeys = {"correlation",
                                                       "device",
                                                       "stream",
                                                       "grid",
                                                       "block",
                                                       "registers per thread",
                                                       "shared memory",
                                                       "blocks per SM",
                                                       "est. achieved occupancy %",
                                                       "graph node id",
                                                       "bytes",
                                                       "kind",
                                                       "Input Dims",
                                                       "Input type",
                                                       "Collective name",
                                                       "In msg nelems",
                                                       "Out msg nelems",
                                                       "dtype",
                                                       "Group size",
                                                       "Process Group Name",
                                                       "Process Group Ranks",
                                                       "Seq",
                                                       "Total Allocated",
                                                       "Total Reserved",
                                                       "Device Type",
                                                       "Device Id",
                                                       "Bytes",
                                                       "name"};

template <std::size_t N>
bool is_one_of(std::string_view key, const std::array<std::string_view, N>& keys) {
  for (const std::string_view k : keys) {
    if (k == key) return true;
  }
  return false;
}

class Mender {
 public:
  explicit Mender(std::string_view text) : text_(text) {}

  std::optional<std::string> run() {
    std::size_t at = 1;
    while (at < text_.size()) {
      at = text_.find('"', at);
      if (at == std::string_view::npos) break;
      at = key(at);
    }
    if (!event_.contains("ph") || !event_.contains("name") || !event_.contains("ts")) {
      return std::nullopt;
    }
    std::string out = "{";
    append(out, event_);
    if (!args_.empty()) {
      out += ", \"args\": {";
      append(out, args_);
      out += '}';
    }
    out += '}';
    return out;
  }

 private:
  using Fields = std::map<std::string_view, std::string>;

  static void append(std::string& out, const Fields& fields) {
    bool first = true;
    for (const auto& [key, value] : fields) {
      if (!first) out += ", ";
      first = false;
      out += '"';
      out += key;
      out += "\": ";
      out += value;
    }
  }

  [[nodiscard]] std::size_t skip(std::size_t at) const {
    while (at < text_.size() && is_space(text_[at])) ++at;
    return at;
  }

  // A key that matters may begin at the quote at `at`. Returns where to go on looking.
  std::size_t key(std::size_t at) {
    const std::size_t end = text_.find('"', at + 1);
    if (end == std::string_view::npos) return text_.size();
    const std::string_view name = text_.substr(at + 1, end - at - 1);
    const std::size_t colon = skip(end + 1);
    if (colon >= text_.size() || text_[colon] != ':') return at + 1;
    const std::size_t begin = skip(colon + 1);
    if (begin >= text_.size()) return text_.size();
    if (name == "args" && text_[begin] == '{') {
      in_args_ = true;
      return begin + 1;
    }
    const bool for_args = in_args_ && is_one_of(name, kArgKeys);
    if (!for_args && !is_one_of(name, kEventKeys)) return end + 1;
    Fields& fields = for_args ? args_ : event_;
    std::string value;
    const std::size_t behind = read_value(begin, value);
    if (!value.empty()) fields[name] = std::move(value);
    return behind;
  }

  std::size_t read_value(std::size_t at, std::string& out) {
    const char first = text_[at];
    if (first == '"') return read_string(at, out);
    if (first == '[') return read_list(at, out);
    std::size_t end = at;
    while (end < text_.size() && !ends_scalar(text_[end]) && text_[end] != '"') ++end;
    const std::string_view word = text_.substr(at, end - at);
    if (parse_double(word)) out = word;
    return end;
  }

  // Lists of numbers, words and lists: dims, types, grid.
  std::size_t read_list(std::size_t at, std::string& out) {
    constexpr std::size_t kMaxList = 4096;
    int depth = 0;
    for (std::size_t end = at; end < std::min(text_.size(), at + kMaxList); ++end) {
      const char c = text_[end];
      if (c == '{' || c == '}' || c == '\\' || static_cast<unsigned char>(c) < 0x20) break;
      if (c == '[') ++depth;
      if (c == ']' && --depth == 0) {
        const std::string_view list = text_.substr(at, end + 1 - at);
        std::vector<std::uint32_t> tokens;
        const std::string object = "{\"list\": " + std::string(list) + "}";
        if (scan_object(object, 0, tokens).outcome == ObjectScan::Outcome::kSound) out = list;
        return end + 1;
      }
    }
    return at + 1;
  }

  // The string ends at the first quote behind which the event goes on as events do.
  std::size_t read_string(std::size_t at, std::string& out) {
    if (no_string_ends_) return at + 1;
    for (std::size_t end = text_.find('"', at + 1); end != std::string_view::npos;
         end = text_.find('"', end + 1)) {
      if (!ends_here(end, at)) continue;
      out = quoted(text_.substr(at + 1, end - at - 1));
      return end + 1;
    }
    no_string_ends_ = true;
    return at + 1;
  }

  [[nodiscard]] bool ends_here(std::size_t quote, std::size_t open) const {
    std::size_t backslashes = 0;
    while (quote - backslashes > open + 1 && text_[quote - backslashes - 1] == '\\') ++backslashes;
    const bool escaped = backslashes % 2 == 1;
    std::size_t after = skip(quote + 1);
    if (after >= text_.size()) return !escaped;
    if (text_[after] == '}' || text_[after] == ']') return !escaped;
    if (text_[after] != ',') return false;
    after = skip(after + 1);
    if (after >= text_.size() || text_[after] != '"') return false;
    const std::size_t end = text_.find('"', after + 1);
    if (end == std::string_view::npos) return false;
    const std::size_t colon = skip(end + 1);
    if (colon >= text_.size() || text_[colon] != ':') return false;
    const std::string_view key = text_.substr(after + 1, end - after - 1);
    // "C:\dir\" ends with a quote that looks escaped: believed when a known key follows.
    return !escaped || key == "args" || is_one_of(key, kEventKeys) || is_one_of(key, kArgKeys);
  }

  // Quotes inside get their backslash. Where the backslashes are nobody's escapes (a Windows path),
  // they get one too.
  static std::string quoted(std::string_view raw) {
    const bool literal = has_invalid_escape(raw);
    std::string out = "\"";
    for (std::size_t i = 0; i < raw.size(); ++i) {
      const char c = raw[i];
      if (c == '"' || (literal && c == '\\')) {
        out += '\\';
        out += c;
      } else if (c == '\\') {  // with what it escapes, so that an escaped quote stays one
        out += c;
        out += raw[++i];
      } else {
        out += c;
      }
    }
    return out + '"';
  }

  std::string_view text_;
  Fields event_;
  Fields args_;
  bool in_args_ = false;
  bool no_string_ends_ = false;  // looked through to the end of the text once: not again
};

}  // namespace

std::optional<std::string> mend_event(std::string_view broken) { return Mender(broken).run(); }

}  // namespace pyrometer::importers::kineto

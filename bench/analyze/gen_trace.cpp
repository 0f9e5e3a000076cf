// Makes a large trace out of a small one: repeats its events with later times and new ids.
//
//   gen_trace INPUT OUTPUT MEGABYTES
//
// INPUT is a Kineto trace (.json, .json.gz, .json.zst). Each repetition is shifted by the span of
// the input; correlation ids, External ids and the ids of flow arrows stay unique, so that launches
// link to their kernels as in the original. The text around the numbers is copied as it is.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/decompress.h"

namespace {

using pyrometer::base::ByteSource;

// A number in the text that differs between repetitions: by `step` for each.
struct Field {
  std::size_t begin = 0;
  std::size_t end = 0;
  enum class Kind : std::uint8_t { kTime, kCorrelation, kExternalId, kFlowId } kind = Kind::kTime;
};

struct Key {
  std::string_view text;
  Field::Kind kind;
};

constexpr std::array<Key, 5> kKeys = {{{"\"ts\":", Field::Kind::kTime},
                                       {"\"correlation\":", Field::Kind::kCorrelation},
                                       {"\"External id\":", Field::Kind::kExternalId},
                                       {"\"external id\":", Field::Kind::kExternalId},
                                       {"\"id\":", Field::Kind::kFlowId}}};

[[noreturn]] void fail(const std::string& message) {
  std::fprintf(stderr, "gen_trace: %s\n", message.c_str());
  std::exit(1);
}

std::string read_all(const std::string& path) {
  auto file = pyrometer::base::open_file(path);
  if (!file) fail(file.error().to_string());
  auto peek = std::make_unique<pyrometer::base::PeekSource>(std::move(*file));
  const std::string head(peek->peek(4).value_or(std::string_view()));
  std::unique_ptr<ByteSource> source = std::move(peek);
  if (pyrometer::base::looks_like_gzip(head)) source = pyrometer::base::gunzip(std::move(source));
  if (pyrometer::base::looks_like_zstd(head)) source = pyrometer::base::unzstd(std::move(source));
  std::string text;
  std::vector<char> block(1 << 20);
  while (true) {
    auto got = source->read(block.data(), block.size());
    if (!got) fail(got.error().to_string());
    if (*got == 0) return text;
    text.append(block.data(), *got);
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::vector<Field> find_fields(std::string_view text) {
  std::vector<Field> fields;
  for (std::size_t at = text.find('"'); at != std::string_view::npos; at = text.find('"', at + 1)) {
    for (const Key& key : kKeys) {
      if (!text.substr(at).starts_with(key.text)) continue;
      std::size_t begin = at + key.text.size();
      while (begin < text.size() && text[begin] == ' ') ++begin;
      std::size_t end = begin;
      while (end < text.size() && is_digit(text[end])) ++end;
      if (end > begin && end - begin < 18) fields.push_back({begin, end, key.kind});
      break;
    }
  }
  return fields;
}

std::uint64_t value_of(std::string_view text, const Field& field) {
  std::uint64_t value = 0;
  for (std::size_t i = field.begin; i < field.end; ++i) {
    value = value * 10 + static_cast<std::uint64_t>(text[i] - '0');
  }
  return value;
}

// How much each kind of number grows from one repetition to the next.
std::array<std::uint64_t, 4> find_steps(std::string_view text, const std::vector<Field>& fields) {
  std::array<std::uint64_t, 4> low{};
  std::array<std::uint64_t, 4> high{};
  low.fill(~std::uint64_t{0});
  for (const Field& field : fields) {
    const auto kind = static_cast<std::size_t>(field.kind);
    low[kind] = std::min(low[kind], value_of(text, field));
    high[kind] = std::max(high[kind], value_of(text, field));
  }
  std::array<std::uint64_t, 4> steps{};
  for (std::size_t kind = 0; kind < steps.size(); ++kind) {
    if (high[kind] >= low[kind]) steps[kind] = high[kind] - low[kind] + 1000;
  }
  // Flow arrows carry correlation ids: both must stay equal.
  const auto correlation = static_cast<std::size_t>(Field::Kind::kCorrelation);
  const auto flow = static_cast<std::size_t>(Field::Kind::kFlowId);
  steps[correlation] = steps[flow] = std::max(steps[correlation], steps[flow]);
  return steps;
}

struct Parts {
  std::string_view head;    // up to and with the `[` of the events
  std::string_view events;  // without the brackets
  std::string_view tail;    // from the `]`
};

Parts split(std::string_view text) {
  const std::size_t key = text.find("\"traceEvents\"");
  if (key == std::string_view::npos) fail("no traceEvents");
  const std::size_t open = text.find('[', key);
  // The list's end is the last `]` behind a `}` of an event: found from the back.
  const std::size_t last_event = text.rfind("\"ph\"");
  if (open == std::string_view::npos || last_event == std::string_view::npos) fail("no events");
  std::size_t depth = 1;
  std::size_t close = text.rfind('{', last_event);
  bool in_string = false;
  for (; close < text.size(); ++close) {
    const char c = text[close];
    if (in_string) {
      if (c == '\\') ++close;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']' && --depth == 0) {
      break;
    }
  }
  return {text.substr(0, open + 1), text.substr(open + 1, close - open - 1), text.substr(close)};
}

void write(std::FILE* out, std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), out) != text.size()) fail("writing failed");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) fail("usage: gen_trace INPUT OUTPUT MEGABYTES");
  const std::string text = read_all(argv[1]);
  const Parts parts = split(text);
  const std::vector<Field> fields = find_fields(parts.events);
  const auto steps = find_steps(parts.events, fields);
  const double wanted = std::atof(argv[3]) * 1e6;
  std::FILE* out = std::fopen(argv[2], "wb");
  if (out == nullptr) fail(std::string("cannot write ") + argv[2]);
  write(out, parts.head);
  double written = static_cast<double>(parts.head.size() + parts.tail.size());
  std::string piece;
  for (std::uint64_t round = 0; round == 0 || written < wanted; ++round) {
    if (round > 0) write(out, ",");
    piece.clear();
    std::size_t copied = 0;
    for (const Field& field : fields) {
      piece.append(parts.events, copied, field.begin - copied);
      piece += std::to_string(value_of(parts.events, field) +
                              round * steps[static_cast<std::size_t>(field.kind)]);
      copied = field.end;
    }
    piece.append(parts.events.substr(copied));
    while (!piece.empty() && (piece.back() == '\n' || piece.back() == ' ')) piece.pop_back();
    write(out, piece);
    written += static_cast<double>(piece.size());
  }
  write(out, "\n  ");
  write(out, parts.tail);
  if (std::fclose(out) != 0) fail("writing failed");
  return 0;
}

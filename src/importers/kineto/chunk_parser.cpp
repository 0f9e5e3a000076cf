#include "importers/kineto/chunk_parser.h"

#include <algorithm>
#include <cstring>

#include "importers/kineto/event_scan.h"

namespace pyrometer::importers::kineto {
namespace {

constexpr std::size_t kMaxMendedBytes = 64 * 1024;
constexpr std::size_t kMaxForeignText = 1 << 20;  // that is looked at whole

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

// Puts the NUL that ends a token list behind the text, for as long as it lives.
class NulGuard {
 public:
  explicit NulGuard(char* place) : place_(place), saved_(*place) { *place_ = '\0'; }
  NulGuard(const NulGuard&) = delete;
  NulGuard& operator=(const NulGuard&) = delete;
  ~NulGuard() { *place_ = saved_; }

 private:
  char* place_;
  char saved_;
};

void take_comma(ListState& state, ChunkRows& out, std::int64_t offset) {
  if (state == ListState::kAfterComma || state == ListState::kFirst) {
    out.mishaps.add(Mishap::kStrayComma, offset);
  }
  state = ListState::kAfterComma;
}

void take_list_end(ListState& state, ChunkRows& out, std::int64_t offset) {
  if (state == ListState::kAfterComma) out.mishaps.add(Mishap::kStrayComma, offset);
  state = ListState::kFirst;
}

void begin_event(ListState& state, ChunkRows& out, std::int64_t offset) {
  if (state == ListState::kAfterEvent) out.mishaps.add(Mishap::kMissingComma, offset);
  state = ListState::kAfterEvent;
}

}  // namespace

std::size_t guess_cut(std::string_view text) {
  for (std::size_t end = text.size(); end > 0;) {
    const std::size_t brace = text.rfind('}', end - 1);
    if (brace == std::string_view::npos) return 0;
    std::size_t next = skip_space(text, brace + 1);
    if (next < text.size() && text[next] == ']') return next + 1;
    if (next < text.size() && text[next] == ',') next = skip_space(text, next + 1);
    if (next < text.size() && text[next] == '{') {
      next = skip_space(text, next + 1);
      if (next < text.size() && text[next] == '"') return brace + 1;
    }
    end = brace;
  }
  return 0;
}

ChunkParser::End ChunkParser::parse(const Chunk& chunk, ListState& state, ChunkRows& out) {
  End end;
  if (state == ListState::kLost) {
    end = parse_tolerant(chunk, 0, state, out);
  } else {
    end = parse_ahead(chunk, state, out);
  }
  decoder_.finish_chunk(out);
  return end;
}

ChunkParser::End ChunkParser::parse_ahead(const Chunk& chunk, ListState& state, ChunkRows& out) {
  const std::string_view text(chunk.text, chunk.size);
  const std::size_t first = skip_space(text, 0);
  if (first == text.size()) return {first, false};
  if (text[first] == ']') {  // too short for a cut
    take_list_end(state, out, chunk.offset + static_cast<std::int64_t>(first));
    return {first + 1, true};
  }
  std::size_t cut = chunk.at_end ? chunk.size : guess_cut(text);
  StructuralIndex::Outcome outcome = index_.build(chunk.text, cut);
  // A cut inside a string leaves it without an end: the cut before that may be a better one.
  for (int retries = 3; outcome == StructuralIndex::Outcome::kBroken && retries > 0; --retries) {
    const std::size_t earlier = guess_cut(text.substr(0, cut - 1));
    if (earlier == 0) break;
    cut = earlier;
    outcome = index_.build(chunk.text, cut);
  }
  if (cut == 0) {
    if (chunk.size <= kMaxEventBytes) return {};
    return parse_tolerant(chunk, 0, state, out);
  }
  return parse_indexed(chunk, cut, outcome, state, out);
}

bool ChunkParser::parse_whole(const Chunk& chunk, ChunkRows& out) {
  ListState state = ListState::kAfterEvent;
  const StructuralIndex::Outcome outcome = index_.build(chunk.text, chunk.size);
  const End end = parse_indexed(chunk, chunk.size, outcome, state, out);
  decoder_.finish_chunk(out);
  return end.consumed == chunk.size && !end.list_ended && state == ListState::kAfterEvent;
}

// Parses up to `cut` by the index that was built for it; what is damaged, and all behind it, by the
// scanner.
ChunkParser::End ChunkParser::parse_indexed(const Chunk& chunk, std::size_t cut,
                                            StructuralIndex::Outcome outcome, ListState& state,
                                            ChunkRows& out) {
  if (outcome == StructuralIndex::Outcome::kBroken ||
      outcome == StructuralIndex::Outcome::kNoMemory) {
    return parse_tolerant(chunk, 0, state, out);
  }
  bool damaged = false;
  const End end = walk_index(chunk, cut, state, out, damaged);
  return damaged ? parse_tolerant(chunk, end.consumed, state, out) : end;
}

// `damaged` is set when the text at the end position is not an event, or one that does not end
// although it should.
ChunkParser::End ChunkParser::walk_index(const Chunk& chunk, std::size_t cut, ListState& state,
                                         ChunkRows& out, bool& damaged) {
  const NulGuard guard(chunk.text + cut);
  const EventDecoder::Chunk text{chunk.text, chunk.offset};
  const Token last = index_.tokens().data() + index_.tokens().size();
  for (Token t = index_.tokens().data(); t < last;) {
    const std::int64_t offset = chunk.offset + *t;
    switch (chunk.text[*t]) {
      case '{': {
        const Token next = decoder_.decode(text, t, out);
        if (next == nullptr) {
          damaged =
              decoder_.stopped_at() < last || chunk.at_end || chunk.size - *t > kMaxEventBytes;
          return {*t, false};
        }
        begin_event(state, out, offset);
        t = next;
        break;
      }
      case ',':
        take_comma(state, out, offset);
        ++t;
        break;
      case ']':
        take_list_end(state, out, offset);
        return {*t + std::size_t{1}, true};
      default:
        damaged = true;
        return {*t, false};
    }
  }
  return {cut, false};
}

ChunkParser::End ChunkParser::parse_tolerant(const Chunk& chunk, std::size_t from, ListState& state,
                                             ChunkRows& out) {
  const std::string_view text(chunk.text, chunk.size);
  std::size_t at = from;
  while (true) {
    if (state == ListState::kLost) {
      const Landmark landmark = find_landmark(text, at, chunk.at_end);
      if (landmark.kind == Landmark::Kind::kNone) {
        if (chunk.at_end) return {chunk.size, false};
        const std::size_t overlap = std::min(kLandmarkOverlap, chunk.size - at);
        return {chunk.size - overlap, false};
      }
      at = landmark.at;
      state = ListState::kAfterGap;
    }
    at = skip_space(text, at);
    if (at >= chunk.size) return {chunk.size, false};
    const std::int64_t offset = chunk.offset + static_cast<std::int64_t>(at);
    if (text[at] == ',') {
      take_comma(state, out, offset);
      ++at;
      continue;
    }
    if (text[at] == ']') {
      take_list_end(state, out, offset);
      return {at + 1, true};
    }
    if (text[at] != '{') {
      if (!pass_foreign_text(chunk, at, state, out)) return {at, false};
      continue;
    }
    tokens_.clear();
    const ObjectScan scan = scan_object(text, at, tokens_);
    if (scan.outcome == ObjectScan::Outcome::kSound && decode_scanned(chunk, out)) {
      begin_event(state, out, offset);
      at = scan.stopped_at;
      continue;
    }
    const bool ends_early = scan.outcome == ObjectScan::Outcome::kEndsEarly;
    if (!pass_broken_event(chunk, ends_early, at, state, out)) return {at, false};
  }
}

// Moves `at`, where text begins that is no event, to the next landmark. An event whose brace was
// damaged looks like that too, and is one that was lost. False when more text is needed.
bool ChunkParser::pass_foreign_text(const Chunk& chunk, std::size_t& at, ListState& state,
                                    ChunkRows& out) {
  const std::string_view text(chunk.text, chunk.size);
  const Landmark next = find_landmark(text, at, chunk.at_end);
  const bool found = next.kind != Landmark::Kind::kNone;
  if (!found && !chunk.at_end && chunk.size - at <= kMaxForeignText) return false;
  const bool lost = holds_event(text.substr(at, found ? next.at - at : kMaxForeignText));
  out.mishaps.add(lost ? Mishap::kDamagedEvent : Mishap::kForeignText,
                  chunk.offset + static_cast<std::int64_t>(at));
  state = found ? ListState::kAfterGap : ListState::kLost;
  if (found) at = next.at;
  return true;
}

// Moves `at`, where a broken event begins, to the next landmark, and mends what lies before it.
// False when more text is needed for that.
bool ChunkParser::pass_broken_event(const Chunk& chunk, bool ends_early, std::size_t& at,
                                    ListState& state, ChunkRows& out) {
  const std::string_view text(chunk.text, chunk.size);
  const bool more_may_help = !chunk.at_end && chunk.size - at <= kMaxEventBytes;
  if (ends_early && more_may_help) return false;
  const Landmark next = find_landmark(text, at + 1, chunk.at_end);
  if (next.kind != Landmark::Kind::kNone) {
    mend(chunk, at, next.at, out);
    at = next.at;
    state = ListState::kAfterGap;
    return true;
  }
  if (more_may_help) return false;
  const bool cut_off = ends_early && chunk.at_end;
  out.mishaps.add(cut_off ? Mishap::kTruncatedFile : Mishap::kDamagedEvent,
                  chunk.offset + static_cast<std::int64_t>(at));
  state = ListState::kLost;
  ++at;
  return true;
}

// Decodes the object whose tokens the scanner has left in tokens_.
bool ChunkParser::decode_scanned(const Chunk& chunk, ChunkRows& out) {
  const NulGuard guard(chunk.text + chunk.size);
  tokens_.push_back(static_cast<std::uint32_t>(chunk.size));
  tokens_.push_back(static_cast<std::uint32_t>(chunk.size));
  const EventDecoder::Chunk text{chunk.text, chunk.offset};
  return decoder_.decode(text, tokens_.data(), out) != nullptr;
}

// An event that is broken between `begin` and the next landmark.
void ChunkParser::mend(const Chunk& chunk, std::size_t begin, std::size_t end, ChunkRows& out) {
  const std::string_view text(chunk.text, chunk.size);
  const std::int64_t offset = chunk.offset + static_cast<std::int64_t>(begin);
  if (!begins_event(text, begin) && !holds_event(text.substr(begin, end - begin))) {
    out.mishaps.add(Mishap::kForeignText, offset);
    return;
  }
  if (end - begin <= kMaxMendedBytes) {
    auto mended = mend_event(text.substr(begin, end - begin));
    if (mended) {
      tokens_.clear();
      const ObjectScan scan = scan_object(*mended, 0, tokens_);
      mended->append(64, '\0');
      const Chunk piece{mended->data(), mended->size() - 64, offset, true};
      if (scan.outcome == ObjectScan::Outcome::kSound && decode_scanned(piece, out)) {
        out.mishaps.add(Mishap::kMendedEvent, offset);
        return;
      }
    }
  }
  out.mishaps.add(Mishap::kDamagedEvent, offset);
}

}  // namespace pyrometer::importers::kineto

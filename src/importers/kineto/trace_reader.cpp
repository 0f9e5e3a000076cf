#include "importers/kineto/trace_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "importers/kineto/event_scan.h"
#include "importers/kineto/tokens.h"

namespace pyrometer::importers::kineto {
namespace {

constexpr std::size_t kFirstWindow = 4096;
constexpr std::size_t kLargestWindow = std::size_t{1} << 40;  // no bound any more
constexpr std::size_t kMaxCapture = 8 << 20;
constexpr std::int64_t kMaxCaptureDepth = 32;
constexpr std::size_t kMaxKey = 1024;
constexpr std::size_t kMaxLookahead = 64 * 1024;  // white space that may follow a bracket
constexpr std::size_t kMaxDocuments = 4096;       // in one file; the rest joins the last

// Offsets in the source are those of packed bytes; those of the trace are of its text.
std::string describe_cut(const base::Error& source_error) {
  std::string text = source_error.message;
  if (source_error.offset >= 0) {
    text += ", at byte " + std::to_string(source_error.offset) + " of the packed data";
  }
  return text + "; what follows is missing";
}

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

}  // namespace

TraceReader::TraceReader(std::int64_t patience)
    : patience_(patience), assembler_(std::make_unique<RankAssembler>()) {}

void TraceReader::feed(char* text, std::size_t size) {
  char* begin = text;
  std::string joined;
  if (rest_.size() <= kHeadroom) {
    begin -= rest_.size();
    std::memcpy(begin, rest_.data(), rest_.size());
    size += rest_.size();
  } else {
    joined = std::move(rest_);
    joined.append(text, size);
    size = joined.size();
    joined.append(kPadding, '\0');
    begin = joined.data();
  }
  const std::size_t done = run(begin, size, /*at_end=*/false);
  rest_.assign(begin + done, size - done);
  offset_ += static_cast<std::int64_t>(done);
}

void TraceReader::feed_copy(std::string_view text) {
  std::string copy;
  copy.reserve(kHeadroom + text.size() + kPadding);
  copy.append(kHeadroom, '\0');
  copy.append(text);
  copy.append(kPadding, '\0');
  feed(copy.data() + kHeadroom, text.size());
}

void TraceReader::take_tables(std::size_t decoder, ChunkRows& rows) {
  if (decoder >= tables_.size()) tables_.resize(decoder + 1);
  tables_[decoder].take(rows);
}

void TraceReader::add_chunk(std::size_t decoder, const ChunkRows& rows, std::size_t size) {
  assembler_->add(rows, decoder, tables_[decoder]);
  offset_ += static_cast<std::int64_t>(size);
}

bool TraceReader::hopeless() const {
  // Sound JSON may be a trace with much before its events.
  constexpr std::int64_t kSoundFactor = 4;
  const std::int64_t most = saw_document_ ? kSoundFactor * patience_ : patience_;
  const bool too_much = foreign_bytes_ > patience_ || offset_ > most;
  return too_much && traces_.empty() && assembler_->events() == 0;
}

std::size_t TraceReader::run(char* text, std::size_t size, bool at_end) {
  const std::string_view view(text, size);
  std::size_t at = 0;
  while (at < size) {
    std::size_t next = at;
    switch (state_) {
      case State::kOutside:
        next = step_outside(view, at, at_end);
        break;
      case State::kMembers:
        next = step_members(view, at, at_end);
        break;
      case State::kValue:
        next = step_value(view, at);
        break;
      case State::kEvents: {
        next = step_events(text, size, at, at_end);
        // Still in the list: what is left is the beginning of an event.
        if (state_ == State::kEvents) return next;
        break;
      }
    }
    if (next == kNeedMore) break;
    at = next;
  }
  return at;
}

// Foreign text is counted once for each stretch of it.
std::size_t TraceReader::pass_over(std::string_view text, std::size_t at, std::size_t count) {
  only_zeros_ = only_zeros_ && text.substr(at, count).find_first_not_of('\0') >= count;
  if (!in_foreign_) {
    document_mishaps_.add(Mishap::kForeignText, offset_of(at));
    if (first_foreign_ < 0) first_foreign_ = offset_of(at);
    last_foreign_ = offset_of(at);
  }
  in_foreign_ = true;
  foreign_bytes_ += static_cast<std::int64_t>(count);
  return at + count;
}

std::size_t TraceReader::step_outside(std::string_view text, std::size_t at, bool at_end) {
  const char c = text[at];
  if (is_space(c) || c == ',') return at + 1;
  if (c != '{' && c != '[') {
    if (offset_of(at) == 0 && text.substr(at).starts_with("\xEF\xBB\xBF")) return at + 3;
    const std::size_t next = text.find_first_of("{[", at);
    return pass_over(text, at, std::min(next, text.size()) - at);
  }
  const std::size_t inside = skip_space(text, at + 1);
  // begins_event() looks at a key and the colon behind it.
  if (inside + kLandmarkOverlap > text.size() && !at_end && inside - at < kMaxLookahead) {
    return kNeedMore;
  }
  const char next = inside < text.size() ? text[inside] : '\0';
  if (c == '{') {
    if (begins_event(text, at)) {
      begin_document();
      bare_events_ = true;
      begin_events();
      return at;
    }
    if (next != '"' && next != '}') return pass_over(text, at, 1);
    begin_document();
    in_object_ = true;
    state_ = State::kMembers;
    return at + 1;
  }
  if (next != ']' && (next != '{' || !begins_event(text, inside))) return pass_over(text, at, 1);
  begin_document();
  begin_events();
  return at + 1;
}

std::size_t TraceReader::step_members(std::string_view text, std::size_t at, bool at_end) {
  const char c = text[at];
  if (is_space(c) || c == ',') return at + 1;
  if (c == '"') return step_key(text, at, at_end);
  if (c == '}') {
    end_document(at + 1);
    return at + 1;
  }
  if (c == '{') {
    // Events outside their list: it was closed too early, or its key is damaged.
    if (at + kLandmarkOverlap > text.size() && !at_end) return kNeedMore;
    if (begins_event(text, at)) {
      begin_events();
      return at;
    }
  }
  return pass_over(text, at, 1);
}

std::size_t TraceReader::step_key(std::string_view text, std::size_t at, bool at_end) {
  const std::string_view window = text.substr(0, std::min(text.size(), at + kMaxKey));
  const bool short_of_text = window.size() == text.size() && !at_end;
  std::size_t end = at + 1;
  while (end < window.size() && window[end] != '"' && window[end] != '\n') {
    end += window[end] == '\\' ? 2 : 1;
  }
  if (end >= window.size()) {
    if (short_of_text) return kNeedMore;
    return window.size() == text.size() ? text.size() : pass_over(text, at, 1);
  }
  const std::size_t colon = skip_space(text, end + 1);
  if (colon >= text.size() && !at_end && colon - end < kMaxLookahead) return kNeedMore;
  if (window[end] != '"' || colon >= text.size() || text[colon] != ':')
    return pass_over(text, at, 1);
  const std::size_t value = skip_space(text, colon + 1);
  if (value >= text.size() && !at_end && value - colon < kMaxLookahead) return kNeedMore;
  in_foreign_ = false;
  key_ = text.substr(at + 1, end - at - 1);
  if (key_ == "traceEvents" && value < text.size() && text[value] == '[') {
    saw_key_ = true;
    begin_events();
    return value + 1;
  }
  capture_ = TraceMetadata::wants(key_);
  captured_.clear();
  depth_ = 0;
  in_string_ = false;
  escaped_ = false;
  state_ = State::kValue;
  return std::min(value, text.size());
}

// Passes over a value of any size. A raw line break ends a string: JSON has none inside strings,
// and a path with unescaped backslashes must not swallow the rest of the file.
std::size_t TraceReader::step_value(std::string_view text, std::size_t at) {
  const std::size_t begin = at;
  bool ended = false;
  bool behind = false;  // the value's last byte belongs to it
  for (; at < text.size() && !ended; ++at) {
    const char c = text[at];
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"' || c == '\n') {
        in_string_ = false;
        ended = behind = depth_ == 0;
      }
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      // Nothing that is wanted nests so deep; a tree of it in memory would be many times its text.
      if (++depth_ > kMaxCaptureDepth && capture_) give_up_capture();
    } else if (c == '}' || c == ']') {
      if (depth_ == 0) {
        ended = true;
      } else {
        --depth_;
        ended = behind = depth_ == 0;
      }
    } else if (depth_ == 0 && c == ',') {
      ended = true;
    }
  }
  if (ended && !behind) --at;
  if (capture_) {
    captured_.append(text.substr(begin, at - begin));
    if (captured_.size() > kMaxCapture) give_up_capture();
  }
  if (ended) end_value();
  return at;
}

void TraceReader::give_up_capture() {
  capture_ = false;
  captured_.clear();
  metadata_.unreadable = true;
}

void TraceReader::end_value() {
  while (!captured_.empty() && is_space(captured_.back())) captured_.pop_back();
  if (capture_) metadata_.take(key_, captured_);
  captured_.clear();
  state_ = State::kMembers;
}

// A list is first looked at through a small window, which grows while the list goes on: else each
// of many short lists would cost as much as the whole piece of text behind it.
std::size_t TraceReader::step_events(char* text, std::size_t size, std::size_t at, bool at_end) {
  while (true) {
    const std::size_t window = std::min(window_, size - at);
    const bool is_all = window == size - at;
    rows_.clear();
    const ChunkParser::Chunk chunk{text + at, window, offset_of(at), at_end && is_all};
    const bool was_lost = list_state_ == ListState::kLost;
    const ChunkParser::End end = parser_.parse(chunk, list_state_, rows_);
    if (was_lost && rows_.events == 0) foreign_bytes_ += static_cast<std::int64_t>(end.consumed);
    if (rows_.mishaps.count(Mishap::kForeignText) > 0 && first_foreign_ < 0) {
      first_foreign_ = last_foreign_ = rows_.mishaps.first(Mishap::kForeignText);
    }
    take_tables(0, rows_);
    assembler_->add(rows_, 0, tables_[0]);
    at += end.consumed;
    if (end.list_ended) {
      saw_empty_list_ = saw_empty_list_ || assembler_->events() == 0;
      if (in_object_) {
        state_ = State::kMembers;
      } else {
        end_document(at);
      }
      return at;
    }
    if (window_ < kLargestWindow) window_ *= 4;
    // At the end nothing may be left: damage can make the parser stop early and be called again.
    const bool go_on = at_end && at < size && end.consumed > 0;
    if (is_all && !go_on) return at;
  }
}

void TraceReader::begin_events() {
  state_ = State::kEvents;
  list_state_ = ListState::kFirst;
  window_ = kFirstWindow;
  in_foreign_ = false;
}

void TraceReader::begin_document() {
  in_foreign_ = false;
  saw_document_ = true;
}

void TraceReader::end_document(std::size_t at) {
  state_ = State::kOutside;
  in_object_ = bare_events_ = in_foreign_ = false;
  const bool full = traces_.size() + 1 >= kMaxDocuments;
  const std::int64_t size = offset_of(at) - document_offset_;
  if (full) return;
  document_offset_ += size;
  if (assembler_->events() == 0) {  // its counts, if any, go to the next one
    foreign_bytes_ += size;
    return;
  }
  document_end_ = document_offset_;
  assembler_->add_mishaps(document_mishaps_);
  traces_.push_back(assembler_->finish(metadata_, size));
  document_mishaps_ = {};
  metadata_ = {};
  assembler_ = std::make_unique<RankAssembler>();
}

base::Result<std::vector<ImportedTrace>> TraceReader::finish(const base::Error* source_error) {
  const std::size_t size = rest_.size();
  rest_.append(kPadding, '\0');
  const std::size_t done = run(rest_.data(), size, /*at_end=*/true);
  offset_ += static_cast<std::int64_t>(done);
  const bool cut_off = state_ != State::kOutside && !bare_events_;
  cut_in_events_ = state_ == State::kEvents;
  cut_in_members_ = cut_off && !cut_in_events_;
  if (cut_off && source_error == nullptr && assembler_->count(Mishap::kTruncatedFile) == 0) {
    document_mishaps_.add(Mishap::kTruncatedFile, offset_);
  }
  end_document(0);
  if (traces_.empty()) return base::fail(nothing_found(source_error));
  // What lies behind the last trace is no part of it, and no loss.
  if (first_foreign_ >= 0 && last_foreign_ >= document_end_) {
    traces_.back().timeline.stats.add(
        "trailing_text", model::StatSeverity::kInfo, document_end_,
        std::to_string(offset_ - document_end_) + " bytes after the end of the trace ignored");
  }
  if (source_error != nullptr) {
    traces_.back().timeline.stats.add("damaged_input", model::StatSeverity::kDataLoss, offset_,
                                      describe_cut(*source_error));
  }
  return std::move(traces_);
}

base::Error TraceReader::nothing_found(const base::Error* source_error) const {
  if (source_error != nullptr) return *source_error;
  base::Error error;
  error.expected = "a PyTorch profiler trace: a JSON object with a \"traceEvents\" list";
  if (offset_ == 0) {
    error.kind = base::ErrorKind::kEmpty;
    error.message = "the file is empty";
    error.advice = "Was the disk full, or the run ended, when it was written";
  } else if (first_foreign_ < 0 && (cut_in_events_ || cut_in_members_)) {
    error.kind = base::ErrorKind::kDamaged;
    error.offset = offset_;
    error.message = cut_in_members_ ? "the file ends early, before any event"
                                    : "the file ends early, inside its first event";
    error.expected = cut_in_members_ ? "a \"traceEvents\" list" : "the rest of the event";
    error.advice = "Copy the file again; was the run ended, or the disk full, when it was written";
    if (hopeless()) {
      error.kind = base::ErrorKind::kFormat;
      error.message = "no event up to here: given up";
      error.expected = "a trace, whose events come sooner";
      error.advice = "Export one with prof.export_chrome_trace() or tensorboard_trace_handler()";
    }
  } else if (saw_empty_list_ && (saw_key_ || first_foreign_ < 0)) {
    // Else noise that holds a "[]" by chance.
    error.kind = base::ErrorKind::kEmpty;
    error.message = "the trace has no events";
    error.advice = "Record at least one step: a schedule that is never stepped records nothing";
  } else if (only_zeros_ && first_foreign_ >= 0) {
    error.kind = base::ErrorKind::kEmpty;
    error.message = "nothing but zero bytes";
    error.advice = "It is an empty tar archive, or a file that was never written to the disk";
  } else {
    error.kind = base::ErrorKind::kFormat;
    error.offset = std::max<std::int64_t>(first_foreign_, 0);
    error.message = saw_document_ && first_foreign_ < 0 ? "JSON without traceEvents" : "not JSON";
    error.advice = "Export one with prof.export_chrome_trace() or tensorboard_trace_handler()";
  }
  return error;
}

std::int64_t TraceReader::offset_of(std::size_t at) const {
  return offset_ + static_cast<std::int64_t>(at);
}

}  // namespace pyrometer::importers::kineto

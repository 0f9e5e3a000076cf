#include "importers/input_file.h"

#include <array>
#include <fstream>
#include <memory>
#include <optional>
#include <utility>

#include "base/archive_reader.h"
#include "base/byte_source.h"
#include "base/decompress.h"
#include "importers/format.h"
#include "recording/reader.h"

namespace pyrometer::importers {
namespace {

using base::ByteSource;
using base::PeekSource;

constexpr std::size_t kHeadBytes = 512;  // the magic number of a tar lies in its first header
constexpr int kMaxLayers = 4;            // of compression and archives, one inside the other

// With its mark, or known by every other byte of the first characters of JSON being 0.
bool looks_like_utf16(std::string_view head) {
  if (head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF")) return true;
  constexpr std::size_t kEnough = 16;
  if (head.size() < kEnough) return false;
  std::array<std::size_t, 2> zeros{};  // at even and at odd places
  for (std::size_t i = 0; i < kEnough; ++i) zeros[i % 2] += head[i] == '\0' ? 1 : 0;
  return zeros[0] + zeros[1] == kEnough / 2 && (zeros[0] == 0 || zeros[1] == 0);
}

base::Error utf16_error() {
  return {.kind = base::ErrorKind::kFormat,
          .message = "text in UTF-16",
          .offset = 0,
          .expected = "UTF-8, as the profiler writes it",
          .advice = "Convert it: iconv -f UTF-16 -t UTF-8"};
}

class FileReader {
 public:
  FileReader(const ImportOptions& options, FileImport& out) : options_(options), out_(out) {}

  // `name` is what the user sees. `depth` counts the layers undone so far.
  base::Result<void> read(std::unique_ptr<ByteSource> source, const std::string& name, int depth) {
    auto peek = std::make_unique<PeekSource>(std::move(source));
    const auto head = peek->peek(kHeadBytes);
    if (!head) return base::fail(named(head.error(), name));
    if (looks_like_utf16(*head)) return base::fail(named(utf16_error(), name));
    if (depth < kMaxLayers) {
      if (base::looks_like_gzip(*head)) {
        return read(base::gunzip(std::move(peek)), name, depth + 1);
      }
      if (base::looks_like_zstd(*head)) {
        return read(base::unzstd(std::move(peek)), name, depth + 1);
      }
      if (base::looks_like_other_compression(*head)) {
        return read(base::decompress_other(std::move(peek)), name, depth + 1);
      }
      if (base::looks_like_archive(*head)) return read_archive(std::move(peek), name, depth + 1);
    }
    for (const Format& format : formats()) {
      if (format.recognises(*head)) return import(format, *peek, name);
    }
    return base::fail({.kind = base::ErrorKind::kFormat,
                       .message = "none of the known formats",
                       .file = name,
                       .expected = "a PyTorch profiler trace"});
  }

 private:
  static base::Error named(base::Error error, const std::string& name) {
    error.file = name;
    return error;
  }

  base::Result<void> import(const Format& format, ByteSource& source, const std::string& name) {
    auto candidates = format.import(source, options_);
    if (!candidates) return base::fail(named(candidates.error(), name));
    std::vector<std::string> remarks;
    source.collect_remarks(remarks);
    for (const std::string& remark : remarks) {
      candidates->back().timeline.stats.add("trailing_bytes", model::StatSeverity::kInfo, -1,
                                            remark);
    }
    std::size_t number = 0;
    for (Candidate& c : *candidates) {
      c.timeline.info.file = name;
      if (candidates->size() > 1) c.timeline.info.file += "#" + std::to_string(++number);
      out_.candidates.push_back(std::move(c));
    }
    return {};
  }

  // Members that are no traces are passed over; damage costs what it touches.
  base::Result<void> read_archive(std::unique_ptr<ByteSource> source, const std::string& name,
                                  int depth) {
    const std::unique_ptr<base::ArchiveReader> archive = base::open_archive(std::move(source));
    ArchiveContent content;
    const std::size_t before = out_.candidates.size();
    while (true) {
      const auto more = archive->next();
      for (const base::Error& e : archive->take_damage()) content.damage.push_back(named(e, name));
      if (!more) {
        content.damage.push_back(named(more.error(), name));
        content.damage.back().message += "; what follows is missing";
      }
      if (!more || !*more) break;
      ++content.members;
      auto done = read(archive->content(), name + ":" + archive->name(), depth);
      if (done) continue;
      out_.notes.push_back(done.error().to_string());
      if (!content.first_error) content.first_error = done.error();
    }
    std::vector<std::string> remarks;
    archive->collect_remarks(remarks);
    for (const std::string& remark : remarks) out_.notes.push_back(name + ": " + remark);
    if (out_.candidates.size() == before) return base::fail(no_trace(content, name));
    tell_damage(content, out_.candidates[before].timeline.stats);
    return {};
  }

  struct ArchiveContent {
    std::size_t members = 0;
    std::optional<base::Error> first_error;  // of a member
    std::vector<base::Error> damage;
  };

  // A rank that was lost has no counters: what is said of the archive goes to the first that was
  // not.
  void tell_damage(const ArchiveContent& content, model::ImportStats& stats) {
    for (const base::Error& e : content.damage) {
      out_.notes.push_back(e.to_string());
      stats.add("damaged_archive", model::StatSeverity::kDataLoss, -1,
                e.file + ": byte " + std::to_string(e.offset) + ": " + e.message);
    }
  }

  static base::Error no_trace(const ArchiveContent& content, const std::string& name) {
    if (!content.damage.empty()) return content.damage.front();
    base::Error error;
    error.kind = base::ErrorKind::kEmpty;
    error.file = name;
    error.expected = "one trace per rank";
    error.advice = "Pack the folder given to tensorboard_trace_handler(), or name it as it is";
    if (content.members == 0) {
      error.message = "the archive is empty";
    } else if (content.members == 1) {
      error = *content.first_error;
    } else {
      error.message = "none of the " + std::to_string(content.members) +
                      " files in the archive is a trace; the first is " +
                      content.first_error->file.substr(name.size() + 1) + ": " +
                      content.first_error->message;
    }
    return error;
  }

  const ImportOptions& options_;
  FileImport& out_;
};

bool is_recording_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::array<char, 16> head{};
  file.read(head.data(), head.size());
  return file.gcount() == static_cast<std::streamsize>(head.size()) &&
         recording::is_recording({head.data(), head.size()});
}

// A recording is no stream: it is read where it lies, also while it grows.
base::Result<FileImport> import_recording(const std::string& path) {
  auto timeline = recording::read_recording(path);
  if (!timeline) return base::fail(timeline.error());
  FileImport out;
  out.notes = std::move(timeline->notes);
  const bool alone = timeline->ranks.size() == 1;
  for (model::RankTimeline& rank : timeline->ranks) {
    Candidate candidate;
    if (!alone || rank.info.source == model::RankSource::kDistributedInfo) {
      candidate.claim = rank.info.rank;
    }
    candidate.timeline = std::move(rank);
    out.candidates.push_back(std::move(candidate));
  }
  return out;
}

}  // namespace

base::Result<FileImport> import_file(const std::string& path, const ImportOptions& options) {
  if (path != "-" && is_recording_file(path)) return import_recording(path);
  auto source = base::open_file(path);
  if (!source) return base::fail(source.error());
  FileImport out;
  const std::string name = path == "-" ? "<stdin>" : path;
  auto done = FileReader(options, out).read(std::move(*source), name, 0);
  if (!done) return base::fail(done.error());
  return out;
}

}  // namespace pyrometer::importers

#include "importers/input_file.h"

#include <memory>
#include <utility>

#include "base/archive_reader.h"
#include "base/byte_source.h"
#include "base/decompress.h"
#include "importers/format.h"

namespace pyrometer::importers {
namespace {

using base::ByteSource;
using base::PeekSource;

constexpr std::size_t kHeadBytes = 512;  // the magic number of a tar lies in its first header
constexpr int kMaxLayers = 4;            // of compression and archives, one inside the other

class FileReader {
 public:
  FileReader(const ImportOptions& options, FileImport& out) : options_(options), out_(out) {}

  // `name` is what the user sees. `depth` counts the layers undone so far.
  base::Result<void> read(std::unique_ptr<ByteSource> source, const std::string& name, int depth) {
    auto peek = std::make_unique<PeekSource>(std::move(source));
    const auto head = peek->peek(kHeadBytes);
    if (!head) return base::fail(named(head.error(), name));
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
    std::size_t number = 0;
    for (Candidate& c : *candidates) {
      c.timeline.info.file = name;
      if (candidates->size() > 1) c.timeline.info.file += "#" + std::to_string(++number);
      out_.candidates.push_back(std::move(c));
    }
    return {};
  }

  // Members that are no traces are passed over; damage ends the archive, not what came before.
  base::Result<void> read_archive(std::unique_ptr<ByteSource> source, const std::string& name,
                                  int depth) {
    base::ArchiveReader archive(std::move(source));
    const std::size_t before = out_.candidates.size();
    std::optional<base::Error> first_error;
    while (true) {
      const auto more = archive.next();
      if (!more) {
        const base::Error error = named(more.error(), name);
        if (out_.candidates.size() == before) return base::fail(error);
        out_.notes.push_back(error.to_string() + "; what follows is missing");
        break;
      }
      if (!*more) break;
      const std::string member = name + ":" + archive.name();
      auto done = read(archive.content(), member, depth);
      if (done) continue;
      out_.notes.push_back(done.error().to_string());
      if (!first_error) first_error = done.error();
    }
    if (out_.candidates.size() > before) return {};
    if (first_error) return base::fail(*first_error);
    return base::fail({.kind = base::ErrorKind::kEmpty,
                       .message = "the archive is empty",
                       .file = name,
                       .expected = "one trace per rank"});
  }

  const ImportOptions& options_;
  FileImport& out_;
};

}  // namespace

base::Result<FileImport> import_file(const std::string& path, const ImportOptions& options) {
  auto source = base::open_file(path);
  if (!source) return base::fail(source.error());
  FileImport out;
  const std::string name = path == "-" ? "<stdin>" : path;
  auto done = FileReader(options, out).read(std::move(*source), name, 0);
  if (!done) return base::fail(done.error());
  return out;
}

}  // namespace pyrometer::importers

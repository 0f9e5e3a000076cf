#include "cli/output_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/message.h"

namespace pyrometer::cli {

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  constexpr mode_t kReadableByAll = 0666;  // less the umask
  fd_ = to_stdout()
            ? STDOUT_FILENO
            : ::open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadableByAll);
  opened_ = fd_ >= 0;
  if (!opened_) error_ = errno;
}

OutputFile::~OutputFile() { close(); }

bool OutputFile::write(std::string_view text) {
  while (error_ == 0 && !text.empty()) {
    const ssize_t written = ::write(fd_, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error_ = errno;
    }
  }
  return error_ == 0;
}

void OutputFile::close() {
  const int fd = std::exchange(fd_, -1);
  // Some file systems report a full disk only on closing.
  if (fd >= 0 && !to_stdout() && ::close(fd) != 0 && error_ == 0) error_ = errno;
}

ExitCode OutputFile::finish() {
  close();
  if (error_ == 0) return ExitCode::kOk;
  if (error_ != EPIPE) {
    print_error("cannot write " + (to_stdout() ? "to stdout" : path_) + ": " +
                system_error_text(error_) + (opened_ ? "; the output is incomplete" : ""));
  }
  return ExitCode::kOutput;
}

ExitCode replace_file(const std::string& path,
                      const std::function<bool(const base::TextSink&)>& write) {
  namespace fs = std::filesystem;
  std::error_code error;
  const bool there = fs::exists(path, error);
  const bool in_place = path == "-" || (there && !fs::is_regular_file(path, error));
  // A link stays a link: what it leads to is replaced.
  const fs::path target = there && !in_place ? fs::canonical(path, error) : fs::path(path);
  const std::string written =
      in_place ? path : target.string() + "." + std::to_string(::getpid()) + ".part";
  OutputFile file(written);
  (void)write([&file](std::string_view text) { return file.write(text); });
  const ExitCode code = file.finish();
  if (in_place) return code;
  std::error_code failed;
  if (code == ExitCode::kOk) {
    if (there) fs::permissions(written, fs::status(target, error).permissions(), error);
    fs::rename(written, target, failed);
    if (!failed) return code;
    print_error("cannot write " + path + ": " + failed.message());
  }
  fs::remove(written, error);
  if (there) print_error(path + " is as it was");
  return ExitCode::kOutput;
}

ExitCode write_output(std::string_view text, const std::string& path) {
  OutputFile file(path);
  file.write(text);
  return file.finish();
}

}  // namespace pyrometer::cli

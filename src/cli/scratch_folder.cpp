#include "cli/scratch_folder.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "cli/message.h"

namespace pyrometer::cli {
namespace {

namespace fs = std::filesystem;

// What still runs while it is removed may put new things into it.
void remove_at_last(const fs::path& path) {
  constexpr int kAttempts = 100;
  constexpr std::chrono::milliseconds kPause{100};
  constexpr int kGone = 5;  // times in a row, until nobody can be at work in it any more
  int gone = 0;
  for (int i = 0; i < kAttempts && gone < kGone; ++i) {
    std::error_code ignored;
    fs::remove_all(path, ignored);
    gone = fs::exists(path, ignored) ? 0 : gone + 1;
    std::this_thread::sleep_for(kPause);
  }
}

// Waits until the line is cut, and removes the folder, unless a byte said to leave it.
[[noreturn]] void inherit(const std::string& path, int given) {
  const int line = ::fcntl(given, F_DUPFD_CLOEXEC, 3);
  ::setsid();  // signals of the terminal are not for it
  ::prctl(PR_SET_NAME, "pyrometer-heir");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  const int nothing = ::open("/dev/null", O_RDWR);
  for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, standard);
  if (line > 3) ::close_range(3, static_cast<unsigned>(line) - 1, 0);
  ::close_range(static_cast<unsigned>(line) + 1, UINT_MAX, 0);
  // The folder that we were started from may be one that its owner wants to remove.
  [[maybe_unused]] const int moved = ::chdir("/");
  char byte = 0;
  ssize_t got = 0;
  do {
    got = ::read(line, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got == 0) remove_at_last(path);
  ::_exit(0);
}

}  // namespace

base::Result<ScratchFolder> ScratchFolder::make(const std::string& parent) {
  std::error_code error;
  const fs::path base =
      fs::absolute(parent.empty() ? fs::temp_directory_path(error) : fs::path(parent), error);
  std::string path = (base / "pyrometer-XXXXXX").string();
  if (error || ::mkdtemp(path.data()) == nullptr) {
    return base::fail({.kind = base::ErrorKind::kIo,
                       .message = "cannot make a folder for trials: " + system_error_text(errno),
                       .file = base.string()});
  }
  ScratchFolder folder(std::move(path));
  folder.start_heir();
  return folder;
}

// Without one, the folder stays where we are killed, and that alone.
void ScratchFolder::start_heir() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;
  const pid_t pid = ::fork();
  if (pid == 0) inherit(path_, ends[0]);
  ::close(ends[0]);
  if (pid < 0) {
    ::close(ends[1]);
    return;
  }
  line_ = ends[1];
  heir_ = pid;
}

void ScratchFolder::dismiss_heir() {
  if (line_ < 0) return;
  [[maybe_unused]] const auto written = ::write(line_, "", 1);
  ::close(std::exchange(line_, -1));
  ::waitpid(heir_, nullptr, 0);
}

void ScratchFolder::keep() {
  kept_ = true;
  dismiss_heir();
}

ScratchFolder::ScratchFolder(ScratchFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      kept_(other.kept_),
      line_(std::exchange(other.line_, -1)),
      heir_(other.heir_) {}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty() && !kept_) fs::remove_all(path_, ignored);
  dismiss_heir();
}

}  // namespace pyrometer::cli

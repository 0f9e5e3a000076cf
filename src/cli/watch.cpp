#include "cli/watch.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string_view>

#include "cli/output_file.h"

namespace pyrometer::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view kShowCursor = "\x1b[?25h";
constexpr std::string_view kHideCursor = "\x1b[?25l";
constexpr std::string_view kWholeScreen = "\x1b[H\x1b[2J";
constexpr std::string_view kTop = "\x1b[H";
constexpr std::string_view kRestOfLine = "\x1b[K\n";
constexpr std::string_view kRestOfScreen = "\x1b[J";

// What the signal handler goes by.
volatile std::sig_atomic_t is_writing = 0;  // a block must not be cut in two
volatile std::sig_atomic_t is_told = 0;     // to end
volatile std::sig_atomic_t has_cursor = 1;  // shows it

// Ends the process right here: a driver call that hangs would never come back to look at a flag.
// Only a block that is being written is waited for, and not when one asks twice.
void end(int) {
  if (is_writing != 0 && is_told == 0) {
    is_told = 1;
    return;
  }
  if (has_cursor == 0) {
    [[maybe_unused]] const auto written =
        ::write(STDOUT_FILENO, kShowCursor.data(), kShowCursor.size());
  }
  ::_exit(static_cast<int>(ExitCode::kOk));
}

void end_by_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    action.sa_handler = end;
    struct sigaction before {};
    ::sigaction(number, &action, &before);
    // nohup and background jobs of a shell: what they ignore stays ignored.
    if (before.sa_handler == SIG_IGN) ::sigaction(number, &before, nullptr);
  }
}

int terminal_rows() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

// The block over what stands there. Lines that have no room are left out at the end, with a note.
std::string over_the_last(const std::string& block, bool is_first) {
  std::string out(is_first ? kWholeScreen : kTop);
  const auto lines = static_cast<int>(std::ranges::count(block, '\n'));
  const int rows = terminal_rows();
  // The last row stays empty: a line break there would scroll.
  const int shown = rows > 2 && lines > rows - 1 ? rows - 2 : lines;
  std::size_t begin = 0;
  for (int i = 0; i < shown; ++i) {
    const std::size_t at = block.find('\n', begin);
    out.append(block, begin, at - begin).append(kRestOfLine);
    begin = at + 1;
  }
  if (shown < lines) {
    out += std::to_string(lines - shown) + " more lines: the window is too low";
    out.append(kRestOfLine);
  }
  return out.append(kRestOfScreen);
}

bool write_block(OutputFile& file, std::string_view text) {
  is_writing = 1;
  const bool accepted = file.write(text);
  is_writing = 0;
  if (is_told != 0) end(SIGINT);
  return accepted;
}

// False where nobody reads any more.
bool wait_until(Clock::time_point due) {
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(due - Clock::now());
    if (left.count() <= 0) return true;
    pollfd out{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
    constexpr std::chrono::milliseconds kLongest(60'000);
    ::poll(&out, 1, static_cast<int>(std::min(left, kLongest).count()));
    if ((out.revents & (POLLERR | POLLNVAL)) != 0) return false;
  }
}

}  // namespace

ExitCode watch(const WatchOptions& options, const Terminal& terminal,
               const std::function<std::string(const Terminal&)>& block) {
  end_by_signals();
  const bool redraws = options.redraw && terminal.stdout_is_terminal;
  OutputFile file("");
  if (redraws) {
    has_cursor = 0;
    file.write(kHideCursor);
  }
  auto due = Clock::now();
  for (bool is_first = true;; is_first = false) {
    std::string text = block(redraws ? read_terminal(terminal.asked) : terminal);
    if (redraws) text = over_the_last(text, is_first);
    if (!write_block(file, text)) return file.finish();
    // A round that took too long does not make up for it by the next.
    due = std::max(due + options.period, Clock::now());
    if (!wait_until(due)) return ExitCode::kOutput;
  }
}

}  // namespace pyrometer::cli

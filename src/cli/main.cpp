#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/version.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/output_file.h"
#include "cli/parse.h"
#include "cli/registry.h"

namespace pyrometer::cli {
namespace {

// `pyrometer help run` is what one types who knows git: `pyrometer run --help`.
std::vector<std::string> with_help_option(std::vector<std::string> words) {
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

ExitCode run(const std::vector<std::string>& words) {
  const std::vector<std::unique_ptr<Command>> commands = make_commands();
  const base::Result<Invocation> invocation = parse(commands, words);
  if (!invocation) {
    print_error(invocation.error().to_string());
    return ExitCode::kUsage;
  }
  GlobalOptions global = invocation->global;
  const Terminal terminal = read_terminal(global.color);
  if (global.version) {
    return write_output("pyrometer " + std::string(base::version()) + "\n");
  }
  Command* const command = invocation->command;
  if (command != nullptr && !global.help && !global.help_all) return command->run(terminal);

  constexpr int kWidestHelp = 100;
  const OptionGroup group = global_option_group(global);
  const HelpStyle style{.width = std::min(terminal.width, kWidestHelp),
                        .color = terminal.color,
                        .advanced = global.help_all};
  if (command != nullptr) return write_output(command_help(*command, group, style));
  const bool asked = global.help || global.help_all;
  if (!asked) print_error("no command given. See pyrometer --help");
  return asked ? write_output(tool_help(commands, group, style)) : ExitCode::kUsage;
}

// A standard stream that is closed stays so, for the command of `pyrometer run` as well; but no
// file of ours may get its number, or messages would go into it.
void hold_standard_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // Open the wrong way round: reading or writing fails as on a closed one.
    (void)::open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

}  // namespace
}  // namespace pyrometer::cli

int main(int argc, char** argv) {
  pyrometer::cli::hold_standard_streams();
  // A reader that goes away shows as EPIPE where the writing is done. A handler that does nothing
  // rather than SIG_IGN, which the command of `pyrometer run` would inherit.
  // A file that may not grow (ulimit -f) shows as EFBIG likewise.
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    if (std::signal(number, [](int) {}) == SIG_IGN) std::signal(number, SIG_IGN);
  }
  using pyrometer::cli::ExitCode;
  try {
    return static_cast<int>(pyrometer::cli::run(
        pyrometer::cli::with_help_option({argv + (argc > 0 ? 1 : 0), argv + argc})));
  } catch (const std::bad_alloc&) {
    pyrometer::cli::print_error("out of memory");
  } catch (const std::exception& error) {
    pyrometer::cli::print_error(std::string("internal error: ") + error.what());
  }
  return static_cast<int>(ExitCode::kFailed);
}

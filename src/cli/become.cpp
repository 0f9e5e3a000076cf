#include "cli/become.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cli/message.h"

namespace pyrometer::cli {

void become(const std::vector<std::string>& command) {
  constexpr int kCannotRun = 126;
  constexpr int kNotFound = 127;
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv[0], argv.data());
  const int why = errno;
  print_error("cannot run " + command.front() + ": " + std::strerror(why));
  std::_Exit(why == ENOENT ? kNotFound : kCannotRun);
}

}  // namespace pyrometer::cli

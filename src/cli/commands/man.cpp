#include "cli/commands/man.h"

#include "cli/man_page.h"
#include "cli/output_file.h"
#include "cli/registry.h"

namespace pyrometer::cli {

std::string_view ManCommand::purpose() const { return "print the manual page in roff"; }

std::vector<Example> ManCommand::examples() const {
  return {{"pyrometer man > pyrometer.1", "a page for `man ./pyrometer.1`"}};
}

ExitCode ManCommand::run(const Terminal& /*terminal*/) {
  return write_output(man_page(make_commands()));
}

}  // namespace pyrometer::cli

#include "cli/commands/completion.h"

#include "cli/completion.h"
#include "cli/output_file.h"
#include "cli/registry.h"
#include "cli/values.h"

namespace pyrometer::cli {

std::string_view CompletionCommand::purpose() const {
  return "print a script that completes pyrometer's commands and options in a shell";
}

std::vector<Example> CompletionCommand::examples() const {
  return {
      {"source <(pyrometer completion bash)", "bash; a line for ~/.bashrc"},
      {"pyrometer completion zsh > ~/.zfunc/_pyrometer", "zsh, with ~/.zfunc in $fpath"},
      {"pyrometer completion fish | source", "fish; a line for config.fish"},
  };
}

std::vector<OptionGroup> CompletionCommand::options() {
  OptionGroup input{.title = "Input", .options = {}};
  input.options.push_back({.value = "SHELL",
                           .help = "bash, zsh or fish",
                           .set = set_text(shell_),
                           .completes = Completes::kWords,
                           .words = {"bash", "zsh", "fish"},
                           .required = true});
  return {std::move(input)};
}

ExitCode CompletionCommand::run(const Terminal& /*terminal*/) {
  const Commands commands = make_commands();
  if (shell_ == "zsh") return write_output(zsh_completion(commands));
  if (shell_ == "fish") return write_output(fish_completion(commands));
  return write_output(bash_completion(commands));
}

}  // namespace pyrometer::cli

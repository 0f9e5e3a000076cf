#include "cli/commands/compare.h"

#include "cli/exit_code_of.h"
#include "cli/input_guard.h"
#include "cli/load_run.h"
#include "cli/message.h"
#include "cli/values.h"
#include "output/compare_report.h"
#include "verify/comparison.h"

namespace pyrometer::cli {

std::string_view CompareCommand::purpose() const {
  return "say what changed between two runs, how sure that is, and why";
}

std::vector<Example> CompareCommand::examples() const {
  return {
      {"pyrometer compare before.pyro after.pyro", "two recordings of pyrometer run"},
      {"pyrometer compare traces_a/ traces_b/ --price 2.50", "PyTorch profiler traces, with money"},
      {"pyrometer compare --a a1.pyro --a a2.pyro --b b1.pyro --b b2.pyro",
       "several runs of each: the intervals then hold what differs from run to run"},
      {"pyrometer compare before.pyro after.pyro -o change.md", "for a pull request"},
  };
}

std::vector<OptionGroup> CompareCommand::options() {
  OptionGroup input{.title = "Input", .options = {}};
  input.options.push_back({.value = "PATH",
                           .help = "two runs, A and B: recordings of pyrometer run, or traces; a "
                                   "folder or archive is one run of several ranks",
                           .set = append_text(paths_),
                           .completes = Completes::kFiles,
                           .repeats = true});
  input.options.push_back({.long_name = "a",
                           .value = "PATH",
                           .help = "a run of side A, instead of the first PATH; may be given again",
                           .set = append_text(a_),
                           .completes = Completes::kFiles,
                           .repeats = true});
  input.options.push_back({.long_name = "b",
                           .value = "PATH",
                           .help = "a run of side B",
                           .set = append_text(b_),
                           .completes = Completes::kFiles,
                           .repeats = true});
  for (Option& option : output_.price_options()) input.options.push_back(std::move(option));
  OptionGroup output = output_.options("compare-schema.md");
  output.options.push_back({.short_name = 'q',
                            .long_name = "no-progress",
                            .help = "show no progress on stderr",
                            .set = set_true(no_progress_)});
  return {input, output};
}

ExitCode CompareCommand::run(const Terminal& terminal) {
  const bool groups = !a_.empty() || !b_.empty();
  std::string wrong = output_.conflict();
  if (wrong.empty() && groups && (a_.empty() || b_.empty() || !paths_.empty())) {
    wrong = "--a and --b go together, without further PATHs";
  }
  if (wrong.empty() && !groups && paths_.size() != 2) {
    wrong = "two PATHs are needed, or --a and --b, and " + std::to_string(paths_.size()) +
            (paths_.size() == 1 ? " is given" : " are given");
  }
  if (!wrong.empty()) {
    print_error(wrong + ". See pyrometer compare --help");
    return ExitCode::kUsage;
  }
  if (!groups) {
    a_ = {paths_[0]};
    b_ = {paths_[1]};
  }
  std::vector<std::string> all = a_;
  all.insert(all.end(), b_.begin(), b_.end());
  for (const auto* side : {&a_, &b_}) {
    if (wrong.empty()) wrong = given_twice(*side);
  }
  if (wrong.empty()) wrong = overwrites({{"-o", output_.path()}}, all);
  if (!wrong.empty()) {
    print_error(wrong);
    return ExitCode::kUsage;
  }
  const base::Result<Config> config = output_.config();
  if (!config) {
    print_error(config.error().to_string());
    return exit_code_of(config.error());
  }
  const base::Result<cost::Settings> cost = output_.cost(*config);
  if (!cost) {
    print_error(cost.error().to_string());
    return exit_code_of(cost.error());
  }
  const LoadOptions options{.progress = terminal.stderr_is_terminal && !no_progress_,
                            .rules = config->rules,
                            .cost = *cost};
  const auto a = load_runs(a_, options);
  const auto b = a ? load_runs(b_, options) : a;
  if (!a || !b) {
    const base::Error& error = a ? b.error() : a.error();
    print_error(error.to_string());
    return exit_code_of(error);
  }
  verify::Comparison comparison = verify::compare(*a, *b);
  for (const std::string& one : a_) {
    for (const std::string& other : b_) {
      if (!same_file(one, other)) continue;
      comparison.notes.push_back(groups ? "the run " + one + " is on both sides"
                                        : "both sides are the same file, " + one);
    }
  }
  return output_.write(
      output::compare_document(comparison, output_.top(), output_.verbose()),
      [&](const base::TextSink& sink) { return output::write_compare_json(comparison, sink); },
      terminal);
}

}  // namespace pyrometer::cli

#include "cli/registry.h"

#include "cli/commands/analyze.h"
#include "cli/commands/compare.h"
#include "cli/commands/completion.h"
#include "cli/commands/explain.h"
#include "cli/commands/gate.h"
#include "cli/commands/man.h"
#include "cli/commands/pick.h"
#include "cli/commands/run.h"
#include "cli/commands/serve.h"
#include "cli/commands/stat.h"
#include "cli/commands/top.h"
#include "cli/commands/try.h"
#include "cli/commands/tune.h"

namespace pyrometer::cli {

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  commands.push_back(std::make_unique<RunCommand>());
  commands.push_back(std::make_unique<AnalyzeCommand>());
  commands.push_back(std::make_unique<TryCommand>());
  commands.push_back(std::make_unique<TuneCommand>());
  commands.push_back(std::make_unique<CompareCommand>());
  commands.push_back(std::make_unique<GateCommand>());
  commands.push_back(std::make_unique<TopCommand>());
  commands.push_back(std::make_unique<StatCommand>());
  commands.push_back(std::make_unique<PickCommand>());
  commands.push_back(std::make_unique<ServeCommand>());
  commands.push_back(std::make_unique<ExplainCommand>());
  commands.push_back(std::make_unique<CompletionCommand>());
  commands.push_back(std::make_unique<ManCommand>());
  return commands;
}

}  // namespace pyrometer::cli

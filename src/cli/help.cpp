#include "cli/help.h"

#include <algorithm>

#include "cli/text.h"

namespace pyrometer::cli {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kGap = 2;

std::string heading(std::string_view title, const HelpStyle& style) {
  std::string text(title);
  text = style.color ? "\033[1m" + text + "\033[0m" : text;
  return text + "\n";
}

struct Row {
  std::string label;
  std::string text;
};

// Two columns; the second wraps under itself. Labels too long for the first stand on their own
// line.
std::string table(const std::vector<Row>& rows, std::size_t label_width, const HelpStyle& style) {
  const std::size_t column = kIndent + label_width + kGap;
  constexpr std::size_t kNarrowest = 24;
  const auto width = static_cast<std::size_t>(std::max(style.width, 0));
  const std::size_t text_width = width > column + kNarrowest ? width - column : kNarrowest;
  std::string out;
  for (const Row& row : rows) {
    std::string line = std::string(kIndent, ' ') + row.label;
    if (row.label.size() > label_width) {
      out += line + "\n";
      line.clear();
    }
    for (const std::string& part : wrap(row.text, text_width)) {
      line.resize(std::max(line.size(), column), ' ');
      out += line + part + "\n";
      line.clear();
    }
    if (!line.empty()) out += line + "\n";
  }
  return out;
}

std::vector<Row> option_rows(const OptionGroup& group, const HelpStyle& style) {
  std::vector<Row> rows;
  for (const Option& option : group.options) {
    if (option.tier == Tier::kAdvanced && !style.advanced) continue;
    rows.push_back({option_label(option), option.help});
  }
  return rows;
}

bool has_advanced(const std::vector<OptionGroup>& groups) {
  for (const OptionGroup& group : groups) {
    for (const Option& option : group.options) {
      if (option.tier == Tier::kAdvanced) return true;
    }
  }
  return false;
}

constexpr std::size_t kOptionColumn = 24;

std::string option_groups(const std::vector<OptionGroup>& groups, const HelpStyle& style) {
  std::string out;
  for (const OptionGroup& group : groups) {
    const std::vector<Row> rows = option_rows(group, style);
    if (rows.empty()) continue;
    out += "\n" + heading(group.title, style) + table(rows, kOptionColumn, style);
  }
  return out;
}

std::size_t widest(const std::vector<Row>& rows) {
  std::size_t width = 0;
  for (const Row& row : rows) width = std::max(width, row.label.size());
  return width;
}

std::string example_block(const std::vector<Example>& examples, const HelpStyle& style) {
  std::vector<Row> rows;
  for (const Example& example : examples) {
    rows.push_back({example.command, example.what});
  }
  constexpr std::size_t kWidestExample = 46;
  return "\n" + heading("Examples", style) +
         table(rows, std::min(widest(rows), kWidestExample), style);
}

}  // namespace

std::string_view tool_purpose() {
  return "say where the GPU time of a training run goes, what it costs and what to change";
}

std::string option_label(const Option& option) {
  if (option.positional()) return option.value + (option.repeats ? "..." : "");
  std::string label =
      option.short_name != 0 ? std::string{'-', option.short_name, ',', ' '} : std::string{};
  label += "--" + option.long_name;
  if (option.value_optional) {
    label += "[=" + option.value + "]";
  } else if (!option.is_switch()) {
    label += " " + option.value;
  }
  return label;
}

std::string usage_arguments(const std::vector<OptionGroup>& groups) {
  std::string text = "[options]";
  for (const OptionGroup& group : groups) {
    for (const Option& option : group.options) {
      if (!option.positional()) continue;
      const std::string label = option_label(option);
      text += option.required ? " " + label : " [" + label + "]";
    }
  }
  return text;
}

std::string command_help(Command& command, const OptionGroup& global, const HelpStyle& style) {
  std::vector<OptionGroup> groups = command.options();
  std::string out = "pyrometer " + std::string(command.name()) + ": ";
  out += command.purpose();
  out += "\n";
  if (const std::vector<Example> examples = command.examples(); !examples.empty()) {
    out += example_block(examples, style);
  }
  out += "\n" + heading("Usage", style) + "  pyrometer " + std::string(command.name()) + " " +
         usage_arguments(groups) + "\n";
  const bool more = !style.advanced && has_advanced(groups);
  groups.push_back(global);
  out += option_groups(groups, style);
  if (more) {
    out += "\nMore options: pyrometer " + std::string(command.name()) + " --help-all\n";
  }
  return out;
}

std::string tool_help(const std::vector<std::unique_ptr<Command>>& commands,
                      const OptionGroup& global, const HelpStyle& style) {
  std::string out = "pyrometer: " + std::string(tool_purpose()) + "\n";
  // The first two commands are what the tool is for.
  std::vector<Example> examples;
  constexpr std::size_t kCommands = 2;
  constexpr std::size_t kExamples = 2;
  for (std::size_t c = 0; c < std::min(commands.size(), kCommands); ++c) {
    const std::vector<Example> own = commands[c]->examples();
    const auto shown = static_cast<std::ptrdiff_t>(std::min(own.size(), kExamples));
    examples.insert(examples.end(), own.begin(), own.begin() + shown);
  }
  std::vector<Row> rows;
  for (const auto& command : commands) {
    if (command->hidden()) continue;
    rows.push_back({std::string(command->name()), std::string(command->purpose())});
  }
  out += example_block(examples, style);
  out += "\n" + heading("Usage", style) + "  pyrometer COMMAND [options]\n";
  out += "\n" + heading("Commands", style) + table(rows, widest(rows), style);
  out += option_groups({global}, style);

  std::vector<Row> codes;
  for (const ExitCodeInfo& info : kExitCodes) {
    codes.push_back({std::to_string(static_cast<int>(info.code)), std::string(info.help)});
  }
  out += "\n" + heading("Exit codes", style) + table(codes, 1, style);
  out += "\nOptions of a command: pyrometer COMMAND --help\n";
  return out;
}

}  // namespace pyrometer::cli

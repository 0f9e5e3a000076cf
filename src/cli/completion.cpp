#include "cli/completion.h"

#include "cli/global_options.h"
#include "cli/help.h"

namespace pyrometer::cli {
namespace {

// What completion needs of one command; the first entry stands for the tool before its command.
struct Entry {
  std::string name;  // "" for the tool itself
  std::string purpose;
  std::vector<Option> options;  // its own and the global ones
};

std::vector<Entry> entries(const Commands& commands) {
  GlobalOptions unused;
  const OptionGroup global = global_option_group(unused);
  std::vector<Entry> out = {{"", std::string(tool_purpose()), global.options}};
  for (const auto& command : commands) {
    if (command->hidden()) continue;
    Entry entry{std::string(command->name()), std::string(command->purpose()), {}};
    for (const OptionGroup& group : command->options()) {
      entry.options.insert(entry.options.end(), group.options.begin(), group.options.end());
    }
    entry.options.insert(entry.options.end(), global.options.begin(), global.options.end());
    out.push_back(std::move(entry));
  }
  return out;
}

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

std::string escaped(std::string_view text, std::string_view characters, char escape) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) out += escape;
    out += c;
  }
  return out;
}

// Inside single quotes of bash and zsh.
std::string single_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

std::string command_names(const std::vector<Entry>& all, std::string_view separator) {
  std::vector<std::string> names;
  for (const Entry& entry : all) {
    if (!entry.name.empty()) names.push_back(entry.name);
  }
  return joined(names, separator);
}

std::string bash_words(const std::string& words) {
  return "mapfile -t COMPREPLY < <(compgen -W '" + words + "' -- \"$cur\")";
}

constexpr std::string_view kBashFiles =
    "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")";

// What to offer as the value of `option`; "" for nothing.
std::string bash_value(const Option& option) {
  switch (option.completes) {
    case Completes::kWords:
      return bash_words(joined(option.words, " "));
    case Completes::kFiles:
      return std::string(kBashFiles);
    case Completes::kNothing:
      break;
  }
  return {};
}

std::string bash_entry(const Entry& entry, const std::vector<Entry>& all) {
  std::vector<std::string> flags;
  std::string values;
  std::string positional = entry.name.empty() ? bash_words(command_names(all, " ")) : "";
  for (const Option& option : entry.options) {
    if (option.positional()) {
      positional = bash_value(option);
      continue;
    }
    flags.push_back("--" + option.long_name);
    if (option.is_switch()) continue;
    values += "        --" + option.long_name;
    if (option.short_name != 0) values += std::string("|-") + option.short_name;
    const std::string offer = bash_value(option);
    values += ") " + offer + (offer.empty() ? "" : "; ") + "return ;;\n";
  }
  std::string out = "    " + (entry.name.empty() ? "''" : entry.name) + ")\n";
  if (!values.empty()) out += "      case \"$prev\" in\n" + values + "      esac\n";
  out += "      if [[ $cur == -* ]]; then " + bash_words(joined(flags, " "));
  if (!positional.empty()) out += "; else " + positional;
  return out + "; fi ;;\n";
}

std::string zsh_value(const Option& option) {
  const std::string label = ":" + escaped(option.value, ":[]\\", '\\') + ":";
  switch (option.completes) {
    case Completes::kWords:
      return label + "(" + joined(option.words, " ") + ")";
    case Completes::kFiles:
      return label + "_files";
    case Completes::kNothing:
      break;
  }
  return label;
}

std::string zsh_option(const Option& option) {
  if (option.positional()) {
    return single_quoted((option.repeats ? "*" : "1") + zsh_value(option));
  }
  const std::string help = "[" + escaped(option.help, ":[]\\", '\\') + "]" +
                           (option.is_switch() ? "" : zsh_value(option));
  const std::string name = "--" + option.long_name;
  if (option.short_name == 0) return single_quoted((option.repeats ? "*" : "") + name + help);
  const std::string letter{'-', option.short_name};
  return single_quoted("(" + letter + " " + name + ")") + "{" + letter + "," + name + "}" +
         single_quoted(help);
}

std::string fish_option(const Option& option, const std::string& condition) {
  const auto quoted = [](std::string_view text) { return "'" + escaped(text, "\\'", '\\') + "'"; };
  std::string line = "complete -c pyrometer -n " + condition;
  if (!option.positional()) {
    if (option.short_name != 0) line += std::string(" -s ") + option.short_name;
    line += " -l " + option.long_name + " -d " + quoted(option.help);
    if (!option.is_switch()) line += " -r";
  }
  switch (option.completes) {
    case Completes::kWords:
      line += " -f -a " + quoted(joined(option.words, " "));
      break;
    case Completes::kFiles:
      line += " -F";
      break;
    case Completes::kNothing:
      line += " -f";
      break;
  }
  return line + "\n";
}

}  // namespace

std::string bash_completion(const Commands& commands) {
  const std::vector<Entry> all = entries(commands);
  std::string out = R"(# bash completion of pyrometer; made by: pyrometer completion bash
_pyrometer() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i key= at=0
  COMPREPLY=()
  # bash splits words at "=": --color=never, --with gc=freeze
  if [[ $cur == = ]]; then
    cur= at=$((COMP_CWORD - 1))
  elif [[ $prev == = ]]; then
    at=$((COMP_CWORD - 2))
  fi
  if ((at > 0)); then
    prev=${COMP_WORDS[at]}
    if [[ $prev != -* ]]; then key=$prev= cur=$prev=$cur prev=${COMP_WORDS[at-1]}; fi
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
)";
  out += "      " + command_names(all, "|") + ") command=${COMP_WORDS[i]}; break ;;\n";
  out += "    esac\n  done\n  _pyrometer_offer\n";
  out += "  if [[ -n $key ]]; then COMPREPLY=(\"${COMPREPLY[@]#\"$key\"}\"); fi\n}\n";
  // Sees the local variables of the function that calls it.
  out += "_pyrometer_offer() {\n  case \"$command\" in\n";
  for (const Entry& entry : all) out += bash_entry(entry, all);
  return out + "  esac\n}\ncomplete -F _pyrometer pyrometer\n";
}

std::string zsh_completion(const Commands& commands) {
  const std::vector<Entry> all = entries(commands);
  std::string out = "#compdef pyrometer\n# zsh completion; made by: pyrometer completion zsh\n";
  out += "_pyrometer() {\n  local context state state_descr line\n  typeset -A opt_args\n";
  out += "  local -a commands=(\n";
  for (const Entry& entry : all) {
    if (entry.name.empty()) continue;
    out += "    " + single_quoted(entry.name + ":" + escaped(entry.purpose, ":\\", '\\')) + "\n";
  }
  out += "  )\n  _arguments -C";
  for (const Option& option : all.front().options) out += " \\\n    " + zsh_option(option);
  out += " \\\n    '1: :->command' '*:: :->arguments'\n  case $state in\n";
  out += "    command) _describe command commands ;;\n    arguments)\n      case $words[1] in\n";
  for (const Entry& entry : all) {
    if (entry.name.empty()) continue;
    out += "        " + entry.name + ") _arguments";
    for (const Option& option : entry.options) out += " \\\n          " + zsh_option(option);
    out += " ;;\n";
  }
  out += "      esac ;;\n  esac\n}\n";
  // Works both as a file in $fpath and through `source`.
  return out +
         "if [ \"$funcstack[1]\" = _pyrometer ]; then _pyrometer; else "
         "compdef _pyrometer pyrometer; fi\n";
}

std::string fish_completion(const Commands& commands) {
  const std::vector<Entry> all = entries(commands);
  std::string out = "# fish completion of pyrometer; made by: pyrometer completion fish\n";
  for (const Entry& entry : all) {
    if (entry.name.empty()) {
      out += "complete -c pyrometer -n __fish_use_subcommand -f\n";
    } else {
      out += "complete -c pyrometer -n __fish_use_subcommand -f -a " + entry.name + " -d '" +
             escaped(entry.purpose, "\\'", '\\') + "'\n";
    }
    const std::string condition = entry.name.empty()
                                      ? "__fish_use_subcommand"
                                      : "'__fish_seen_subcommand_from " + entry.name + "'";
    for (const Option& option : entry.options) out += fish_option(option, condition);
  }
  return out;
}

}  // namespace pyrometer::cli

#include "cli/commands/stat.h"

#include <algorithm>
#include <utility>

#include "cli/common_options.h"
#include "cli/exit_code_of.h"
#include "cli/field_list.h"
#include "cli/message.h"
#include "cli/output_file.h"
#include "cli/recorded_ranks.h"
#include "cli/values.h"
#include "cli/watch.h"
#include "readout/json.h"
#include "readout/text.h"

namespace pyrometer::cli {
namespace {

constexpr double kShortestPeriod = 0.1;
constexpr double kLongestPeriod = 86400;

}  // namespace

std::string_view StatCommand::purpose() const {
  return "show what the GPUs are doing now, and whose processes they run";
}

std::vector<Example> StatCommand::examples() const {
  return {
      {"pyrometer stat", "all GPUs and their processes"},
      {"pyrometer stat --watch 1", "again every second, until Ctrl-C"},
      {"pyrometer stat --demo --watch 1", "made-up GPUs, on a machine that has none"},
      {"pyrometer stat --replay run.pyro", "the GPUs as a recording last saw them"},
      {"pyrometer stat -v", "with the reason for each value that is missing"},
      {"pyrometer stat --query index,utilization.gpu,memory.used --format csv,noheader,nounits",
       "as nvidia-smi --query-gpu"},
      {"pyrometer stat --ndjson --watch 10 >> gpus.ndjson", "for programs: a document per line"},
      {"pyrometer stat -i 0,GPU-8f3b --json", "some GPUs, all that can be read of them"},
  };
}

OptionGroup StatCommand::reading_options() {
  OptionGroup group{.title = "What to read", .options = {}};
  group.options.push_back(gpu_option(gpus_));
  const auto set_fields = [this](const std::string& value) {
    const std::string wrong = parse_field_list(value, fields_);
    return wrong.empty() ? wrong : "is no list of fields: " + wrong;
  };
  group.options.push_back({.long_name = "query",
                           .value = "FIELDS",
                           .help = "only these fields, separated by commas, a line for each GPU: "
                                   "nvidia-smi's names and Pyrometer's own (--list-fields)",
                           .set = set_fields});
  group.options.push_back({.long_name = "query-gpu",
                           .value = "FIELDS",
                           .help = "the same, as nvidia-smi calls it",
                           .set = set_fields,
                           .tier = Tier::kAdvanced});
  group.options.push_back({.long_name = "list-fields",
                           .help = "show all fields with their meaning",
                           .set = set_true(list_fields_)});
  group.options.push_back(arguments_option(arguments_));
  group.options.push_back(root_option(root_));
  for (Option& option : demo_options(stand_in_)) group.options.push_back(std::move(option));
  for (Option& option : replay_options(replay_)) group.options.push_back(std::move(option));
  return group;
}

OptionGroup StatCommand::output_options() {
  OptionGroup group{.title = "Output", .options = {}};
  group.options.push_back(
      {.long_name = "watch",
       .value = "SECONDS",
       .help = "again every SECONDS: over the last on a terminal, block after block in a pipe",
       .set = set_amount(watch_seconds_, kShortestPeriod, kLongestPeriod,
                         "a number of seconds from 0.1 to 86400")});
  group.options.push_back(
      {.long_name = "json", .help = "write everything as JSON", .set = set_true(json_)});
  group.options.push_back(
      {.long_name = "ndjson", .help = "write the same on one line", .set = set_true(ndjson_)});
  group.options.push_back({.long_name = "csv",
                           .help = "write CSV: values without units, missing ones empty",
                           .set = set_true(csv_)});
  group.options.push_back({.long_name = "format",
                           .value = "FORMAT",
                           .help = "of --query, as nvidia-smi has it: csv, with ,noheader and "
                                   ",nounits where wanted",
                           .set = [this](const std::string& value) {
                             format_.emplace();
                             return readout::parse_smi_format(value, *format_);
                           }});
  group.options.push_back({.short_name = 'v',
                           .long_name = "verbose",
                           .help = "say why values are missing",
                           .set = set_true(verbose_)});
  constexpr int kNarrowest = 40;
  constexpr int kWidest = 160;
  group.options.push_back({.long_name = "width",
                           .value = "COLUMNS",
                           .help = "columns of the text, from 40 to 160",
                           .set = set_whole(width_, kNarrowest, kWidest),
                           .tier = Tier::kAdvanced});
  return group;
}

std::vector<OptionGroup> StatCommand::options() { return {reading_options(), output_options()}; }

std::string StatCommand::conflict() const {
  const int shapes = (json_ ? 1 : 0) + (ndjson_ ? 1 : 0) + (csv_ ? 1 : 0) + (format_ ? 1 : 0);
  if (shapes > 1) return "--json, --ndjson, --csv and --format exclude each other";
  if (!fields_.empty() && (json_ || ndjson_)) {
    return "--query excludes --json and --ndjson, which hold every field";
  }
  if (fields_.empty() && format_) return "--format needs --query";
  return replay_.conflict(stand_in_ != nullptr);
}

StatCommand::Shape StatCommand::shape() const {
  if (json_) return watch_seconds_ ? Shape::kNdjson : Shape::kJson;
  if (ndjson_) return Shape::kNdjson;
  if (csv_) return Shape::kCsv;
  return fields_.empty() ? Shape::kText : Shape::kSmi;
}

readout::CollectorOptions StatCommand::collector_options() const {
  readout::CollectorOptions options{.root = root_, .gpus = gpus_, .stand_in = stand_in_};
  const Shape wanted = shape();
  const bool is_json = wanted == Shape::kJson || wanted == Shape::kNdjson;
  options.with_processes = is_json || wanted == Shape::kText;
  options.with_arguments = arguments_;
  options.rank_of = recorded_ranks(root_);
  if (is_json) options.depth = readout::Depth::kFull;
  for (const readout::Field& field : fields_) {
    if (field.form == readout::Form::kRanks) options.with_processes = true;
    options.depth = std::max(options.depth, readout::depth_for(field.metric));
  }
  return options;
}

std::string StatCommand::header() const {
  switch (shape()) {
    case Shape::kCsv:
      return readout::csv_header(fields_.empty() ? readout::default_csv_fields() : fields_);
    case Shape::kSmi:
      return !format_ || format_->header ? readout::smi_header(fields_) : std::string();
    default:
      return {};
  }
}

std::string StatCommand::render(const readout::Snapshot& snapshot, const Terminal& terminal) const {
  std::string text;
  const auto append = [&text](std::string_view part) {
    text += part;
    return true;
  };
  switch (shape()) {
    case Shape::kText:
      return readout::snapshot_text(snapshot, {.color = terminal.color,
                                               .unicode = terminal.unicode,
                                               .width = width_ > 0 ? width_ : terminal.width,
                                               .verbose = verbose_});
    case Shape::kJson:
      static_cast<void>(readout::write_json(snapshot, base::JsonLayout::kLines, append));
      break;
    case Shape::kNdjson:
      static_cast<void>(readout::write_json(snapshot, base::JsonLayout::kInline, append));
      break;
    case Shape::kCsv:
      return readout::csv_rows(fields_.empty() ? readout::default_csv_fields() : fields_, snapshot);
    case Shape::kSmi:
      return readout::smi_rows(fields_, snapshot, format_.value_or(readout::SmiStyle{}));
  }
  return text;
}

bool StatCommand::lacks_gpus(const readout::Snapshot& snapshot) const {
  std::string names;
  for (const std::string& wanted : gpus_) {
    const auto is_it = [&](const readout::Device& d) { return readout::is_called(d, wanted); };
    if (std::ranges::any_of(snapshot.devices, is_it)) continue;
    names += (names.empty() ? "" : ", ") + wanted;
  }
  if (!names.empty()) print_error("no such GPU: " + names);
  return !names.empty();
}

ExitCode StatCommand::show_once(readout::Collector& collector, const Terminal& terminal) const {
  const readout::Snapshot snapshot = collector.look();
  // The sentence goes to stderr, where it reaches people also when a program reads the rest.
  const bool is_json = shape() == Shape::kJson || shape() == Shape::kNdjson;
  if (!snapshot.problem || is_json) {
    const ExitCode written = write_output(header() + render(snapshot, terminal));
    if (written != ExitCode::kOk) return written;
  }
  if (snapshot.problem) {
    print_error(readout::problem_text(*snapshot.problem));
    return ExitCode::kFailed;
  }
  return lacks_gpus(snapshot) ? ExitCode::kFailed : ExitCode::kOk;
}

ExitCode StatCommand::keep_showing(readout::Collector& collector, const Terminal& terminal) const {
  std::string told;  // the problem that was told of last
  bool is_first = true;
  const auto block = [&](const Terminal& now) {
    const readout::Snapshot snapshot = collector.look();
    const bool is_text = shape() == Shape::kText;
    std::string text = render(snapshot, now);
    // A blank line between blocks, where they follow each other.
    if (is_first) {
      text.insert(0, header());
    } else if (is_text && !now.stdout_is_terminal) {
      text.insert(0, 1, '\n');
    }
    const std::string problem = snapshot.problem ? readout::problem_text(*snapshot.problem) : "";
    if (!is_text && problem != told && !problem.empty()) print_warning(problem);
    told = problem;
    if (is_first && !snapshot.problem && !is_text) static_cast<void>(lacks_gpus(snapshot));
    is_first = false;
    return text;
  };
  constexpr double kSecond = 1e9;
  return watch({.period = std::chrono::nanoseconds(
                    static_cast<std::int64_t>(watch_seconds_.value_or(1) * kSecond)),
                .redraw = shape() == Shape::kText},
               terminal, block);
}

ExitCode StatCommand::run(const Terminal& terminal) {
  if (const std::string wrong = conflict(); !wrong.empty()) {
    print_error(wrong + ". See pyrometer stat --help");
    return ExitCode::kUsage;
  }
  if (list_fields_) {
    return write_output(
        field_reference(width_ > 0 ? width_ : terminal.width, terminal.unicode, terminal.color));
  }
  if (!replay_.file.empty()) {
    auto replay = open_replay(replay_, !watch_seconds_);
    if (!replay) {
      print_error(replay.error().to_string());
      return exit_code_of(replay.error());
    }
    stand_in_ = replay->stand_in;
  }
  readout::Collector collector(collector_options());
  return watch_seconds_ ? keep_showing(collector, terminal) : show_once(collector, terminal);
}

}  // namespace pyrometer::cli

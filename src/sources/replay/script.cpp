#include "sources/replay/script.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>

#include "base/toml.h"

namespace pyrometer::sources::replay {
namespace {

constexpr std::size_t kMostGpus = 16;
constexpr std::size_t kMostInstances = 7;
constexpr int kMostProcesses = 10'000;
constexpr std::size_t kMostFaults = 1000;
constexpr std::size_t kMostBytes = 1'000'000;
constexpr double kForever = 1e9;  // seconds

template <typename Kind>
using Words = std::initializer_list<std::pair<std::string_view, Kind>>;

// Takes the values of a table by their keys and remembers the first thing that is wrong.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  void begin(const toml::table& table) { known_.clear(), table_ = &table; }
  // After all keys were asked for: one that was not is a mistake.
  void end() {
    for (const auto& [key, node] : *table_) {
      bool known = false;
      for (const std::string_view name : known_) known = known || key.str() == name;
      if (!known) fail(node.source(), "there is no key \"" + std::string(key.str()) + "\" here");
    }
  }

  void number(std::string_view key, double& target, double low, double high) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto value = node->value<double>();
    if (!node->is_number() || !value || !(*value >= low && *value <= high)) {
      return fail(node->source(), std::string(key) + " is no number from " + short_text(low) +
                                      " to " + short_text(high));
    }
    target = *value;
  }
  void whole(std::string_view key, int& target, int low, int high) {
    double value = target;
    number(key, value, low, high);
    if (value != std::trunc(value))
      return fail(find(key)->source(), std::string(key) + " is not whole");
    target = static_cast<int>(value);
  }
  void text(std::string_view key, std::string& target) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::string>();
    if (!value || value->empty()) return fail(node->source(), std::string(key) + " is no text");
    target = *value;
  }
  void truth(std::string_view key, bool& target) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<bool>();
    if (!value) return fail(node->source(), std::string(key) + " is neither true nor false");
    target = *value;
  }
  template <typename Kind>
  void word(std::string_view key, Kind& target, Words<Kind> words) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const auto value = node->value_exact<std::string>();
    std::string all;
    for (const auto& [name, kind] : words) {
      if (value && *value == name) {
        target = kind;
        return;
      }
      all.append(all.empty() ? "" : ", ").append(name);
    }
    fail(node->source(), std::string(key) + " is none of: " + all);
  }
  void texts(std::string_view key, std::vector<std::string>& target, std::size_t most) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    const toml::array* list = node->as_array();
    if (list == nullptr || list->size() > most) {
      return fail(node->source(),
                  std::string(key) + " is no list of at most " + std::to_string(most) + " texts");
    }
    target.clear();
    for (const toml::node& entry : *list) {
      const auto value = entry.value_exact<std::string>();
      if (!value) return fail(entry.source(), std::string(key) + " holds something else than text");
      target.push_back(*value);
    }
  }
  // Null where there is none.
  const toml::array* tables(std::string_view key) {
    const toml::node* node = find(key);
    if (node == nullptr) return nullptr;
    const toml::array* list = node->as_array();
    if (list == nullptr || !list->is_homogeneous<toml::table>()) {
      fail(node->source(), "write [[" + std::string(key) + "]]");
      return nullptr;
    }
    return list;
  }

  void fail(const toml::source_region& where, std::string message) {
    if (problem_) return;
    problem_ = base::Error{.kind = base::ErrorKind::kUsage,
                           .message = std::move(message),
                           .file = file_ + ":" + std::to_string(where.begin.line)};
  }
  [[nodiscard]] const std::optional<base::Error>& problem() const { return problem_; }
  [[nodiscard]] const toml::table& table() const { return *table_; }

 private:
  const toml::node* find(std::string_view key) {
    known_.push_back(key);
    return table_->get(key);
  }
  static std::string short_text(double number) {
    return std::to_string(static_cast<long long>(number));
  }

  std::string file_;
  const toml::table* table_ = nullptr;
  std::vector<std::string_view> known_;
  std::optional<base::Error> problem_;
};

void read_process(Reader& in, const toml::table& table, ScriptProcess& process) {
  in.begin(table);
  in.text("user", process.user);
  in.text("program", process.program);
  in.text("arguments", process.arguments);
  in.number("memory_gib", process.memory_gib, 0, 10'000);
  in.whole("count", process.count, 1, kMostProcesses);
  in.number("lives_s", process.lives_s, 0, kForever);
  in.whole("first_rank", process.first_rank, -1, 1'000'000);
  in.text("slurm_job", process.slurm_job);
  in.text("container", process.container);
  in.text("pod", process.pod);
  in.text("namespace", process.pod_namespace);
  in.truth("draws", process.draws);
  in.end();
  if (process.user.empty() || process.program.empty()) {
    in.fail(table.source(), "a process needs user and program");
  }
}

void read_gpus(Reader& in, const toml::table& table, Script& script) {
  ScriptGpu gpu;
  int count = 1;
  in.begin(table);
  in.text("name", gpu.name);
  in.whole("count", count, 1, kMostGpus);
  in.number("memory_gib", gpu.memory_gib, 1, 10'000);
  in.number("power_limit_w", gpu.power_limit_w, 1, 10'000);
  in.number("idle_w", gpu.idle_w, 0, 10'000);
  in.number("clock_mhz", gpu.clock_mhz, 1, 10'000);
  in.number("memory_clock_mhz", gpu.memory_clock_mhz, 1, 20'000);
  in.number("fan", gpu.fan, 0, 1);
  in.word("load", gpu.load,
          Words<Load>{{"idle", Load::kIdle},
                      {"training", Load::kTraining},
                      {"inference", Load::kInference},
                      {"full", Load::kFull}});
  in.word(
      "throttle", gpu.throttle,
      Words<Throttle>{
          {"none", Throttle::kNone}, {"power", Throttle::kPower}, {"thermal", Throttle::kThermal}});
  in.texts("mig", gpu.mig, kMostInstances);
  const toml::array* processes = in.tables("process");
  in.end();
  if (gpu.name.empty()) in.fail(table.source(), "a gpu needs a name");
  if (processes != nullptr) {
    for (const toml::node& entry : *processes) {
      read_process(in, *entry.as_table(), gpu.processes.emplace_back());
    }
  }
  for (gpu.in_group = 0; gpu.in_group < count; ++gpu.in_group) {
    if (script.gpus.size() == kMostGpus) return in.fail(table.source(), "more than 16 GPUs");
    script.gpus.push_back(gpu);
  }
}

void read_fault(Reader& in, const toml::table& table, Script& script) {
  Fault& fault = script.faults.emplace_back();
  in.begin(table);
  in.word("kind", fault.kind,
          Words<FaultKind>{{"lost", FaultKind::kLost},
                           {"reload", FaultKind::kReload},
                           {"mig", FaultKind::kMig},
                           {"missing", FaultKind::kMissing},
                           {"processes", FaultKind::kProcesses},
                           {"xid", FaultKind::kXid}});
  in.whole("gpu", fault.gpu, -1, static_cast<int>(script.gpus.size()) - 1);
  in.number("at_s", fault.at_s, 0, kForever);
  in.number("for_s", fault.for_s, 0, kForever);
  in.number("every_s", fault.every_s, 0, kForever);
  in.whole("count", fault.count, 0, kMostProcesses);
  in.number("share", fault.share, 0, 1);
  in.texts("mig", fault.mig, kMostInstances);
  in.end();
  if (!table.contains("kind")) in.fail(table.source(), "a fault needs a kind");
  if (fault.every_s > 0 && fault.every_s <= fault.for_s) {
    in.fail(table.source(), "every_s has to be longer than for_s");
  }
  if (script.faults.size() > kMostFaults) in.fail(table.source(), "more than 1000 faults");
}

}  // namespace

base::Result<Script> parse_script(std::string_view text, const std::string& file) {
  const toml::parse_result parsed = toml::parse(text, file);
  Reader in(file);
  if (!parsed) {
    in.fail(parsed.error().source(), std::string(parsed.error().description()));
    return base::fail(*in.problem());
  }
  Script script;
  int seed = 1;
  in.begin(parsed.table());
  in.text("host", script.host);
  in.whole("seed", seed, 0, 1'000'000'000);
  const toml::array* gpus = in.tables("gpu");
  const toml::array* faults = in.tables("fault");
  in.end();
  script.seed = static_cast<std::uint64_t>(seed);
  if (gpus != nullptr) {
    for (const toml::node& entry : *gpus) read_gpus(in, *entry.as_table(), script);
  }
  if (faults != nullptr) {
    for (const toml::node& entry : *faults) read_fault(in, *entry.as_table(), script);
  }
  if (script.gpus.empty()) in.fail(parsed.table().source(), "there is no [[gpu]]");
  if (in.problem()) return base::fail(*in.problem());
  return script;
}

base::Result<Script> read_script(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (file) text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  if (!file || text.size() > kMostBytes) {
    const bool is_absent = errno == ENOENT;
    return base::fail({.kind = is_absent ? base::ErrorKind::kNotFound : base::ErrorKind::kIo,
                       .message = file ? "is too long for a script" : std::strerror(errno),
                       .file = path});
  }
  return parse_script(text, path);
}

}  // namespace pyrometer::sources::replay

#include "tests/stubs/nvml/world.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sstream>

namespace nvml_stub {
namespace {

// A healthy, busy GPU. No number is zero, so that a reading of zero is an error of the reader.
const std::pair<const char*, double> kHealthy[] = {{"util", 87},
                                                   {"util_memory", 41},
                                                   {"util_encoder", 3},
                                                   {"util_decoder", 4},
                                                   {"total", 150754820096},
                                                   {"reserved", 1073741824},
                                                   {"used", 64424509440},
                                                   {"clock_graphics", 1980},
                                                   {"clock_sm", 1980},
                                                   {"clock_memory", 3201},
                                                   {"clock_video", 1545},
                                                   {"clock_sm_max", 1980},
                                                   {"clock_memory_max", 3201},
                                                   {"power", 655000},
                                                   {"power_instant", 661000},
                                                   {"power_average", 650000},
                                                   {"power_limit", 700000},
                                                   {"power_limit_default", 700000},
                                                   {"power_limit_max", 700000},
                                                   {"energy", 123456789},
                                                   {"temperature", 61},
                                                   {"temperature_memory", 72},
                                                   {"temperature_slowdown", 90},
                                                   {"fan", 35},
                                                   {"pstate", 2},
                                                   {"throttle", 4},
                                                   {"violation_power", 5e9},
                                                   {"violation_thermal", 6e9},
                                                   {"pcie_generation", 5},
                                                   {"pcie_generation_max", 5},
                                                   {"pcie_width", 16},
                                                   {"pcie_width_max", 16},
                                                   {"pcie_replays", 2},
                                                   {"pcie_tx", 1000},
                                                   {"pcie_rx", 2000},
                                                   {"pcie_tx_bytes", 1e9},
                                                   {"pcie_rx_bytes", 2e9},
                                                   {"nvlink_tx", 1e6},
                                                   {"nvlink_rx", 2e6},
                                                   {"nvlinks", 18},
                                                   {"ecc_mode", 1},
                                                   {"ecc_0_0", 11},
                                                   {"ecc_1_0", 12},
                                                   {"ecc_0_1", 13},
                                                   {"ecc_1_1", 14},
                                                   {"remapped_corrected", 3},
                                                   {"remapped_uncorrected", 4},
                                                   {"remap_pending", 1},
                                                   {"remap_failed", 1},
                                                   {"vgpu_licensed", 1},
                                                   {"cores", 16896},
                                                   {"numa_node", 1},
                                                   {"persistence", 1},
                                                   {"compute_mode", 3},
                                                   {"mig_mode", 0},
                                                   {"gpm", 1},
                                                   {"gpm_value", 50}};

std::optional<double> to_double(const std::string& word) {
  char* end = nullptr;
  const double value = std::strtod(word.c_str(), &end);
  return !word.empty() && *end == '\0' ? std::optional(value) : std::nullopt;
}

std::optional<Answer> parse_answer(std::istringstream& words) {
  std::string word;
  words >> word;
  if (word == "na") return Answer{AnswerKind::kError, 0, 3};
  if (word == "untouched") return Answer{AnswerKind::kUntouched};
  if (word == "garbage") return Answer{AnswerKind::kGarbage};
  if (word == "error") {
    int code = 999;
    words >> code;
    return Answer{AnswerKind::kError, 0, code};
  }
  const auto value = to_double(word);
  return value ? std::optional(Answer{AnswerKind::kValue, *value}) : std::nullopt;
}

bool run_action(Gpu& gpu, std::istringstream& words) {
  std::string action;
  words >> action;
  if (action == "lost" || action == "back") {
    gpu.lost = action == "lost";
  } else if (action == "process") {
    std::string kind, mib, util;
    Process process;
    words >> process.pid >> kind >> mib >> util;
    process.computes = kind == "compute";
    process.mib = to_double(mib);
    if (const auto percent = to_double(util)) process.util = static_cast<unsigned>(*percent);
    gpu.processes.push_back(process);
  } else if (action == "no-processes") {
    gpu.processes.clear();
  } else if (action == "mig") {
    Mig mig;
    words >> mig.gpu_instance >> mig.compute_instance >> mig.mib;
    gpu.instances.push_back(mig);
    gpu.answers["mig_mode"] = {AnswerKind::kValue, 1};
  } else if (action == "xid") {
    unsigned xid = 0;
    words >> xid;
    gpu.xids.push_back(xid);
  } else {
    return false;
  }
  return true;
}

}  // namespace

World::World()
    : clock([] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
            .count();
      }) {
  static_cast<void>(run("gpus 1"));
}

bool World::load(std::string_view script, std::string* problem) {
  const std::lock_guard lock(mutex);
  gpus.clear();
  calls.clear();
  hidden.clear();
  hanging.clear();
  later.clear();
  init_code = count_code = 0;
  initialized = false;
  started = -1;
  process_entry = 24;
  std::istringstream lines{std::string(script)};
  std::string line;
  static_cast<void>(run("gpus 1"));
  while (std::getline(lines, line)) {
    if (run(line.substr(0, line.find('#')))) continue;
    if (problem != nullptr) *problem = line;
    return false;
  }
  return true;
}

bool World::run(std::string_view statement) {
  std::istringstream words{std::string(statement)};
  std::string first;
  if (!(words >> first)) return true;
  if (first == "gpus") {
    std::size_t count = 0;
    words >> count;
    gpus.assign(count, {});
    for (Gpu& gpu : gpus) {
      for (const auto& [key, value] : kHealthy) gpu.answers[key] = {AnswerKind::kValue, value};
    }
    return true;
  }
  if (first == "init") return static_cast<bool>(words >> init_code);
  if (first == "count") return static_cast<bool>(words >> count_code);
  if (first == "uninitialized") return !(initialized = false);
  if (first == "process-entry") return static_cast<bool>(words >> process_entry);
  if (first == "hide" || first == "hang" || first == "release") {
    std::string symbol;
    words >> symbol;
    if (first == "hide") hidden.insert(symbol);
    if (first == "hang") hanging.insert(symbol);
    if (first == "release") hanging.erase(symbol);
    let_go.notify_all();
    return true;
  }
  if (first == "at") {
    double time = 0;
    std::string rest;
    words >> time;
    std::getline(words, rest);
    later.emplace(time, rest);
    return true;
  }
  if (!first.starts_with("gpu")) return false;
  const std::size_t dot = first.find('.');
  const std::string number = first.substr(3, dot == std::string::npos ? dot : dot - 3);
  const auto position = words.tellg();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (number != "*" && number != std::to_string(i)) continue;
    words.clear();
    words.seekg(position);
    if (dot == std::string::npos) {
      if (!run_action(gpus[i], words)) return false;
      continue;
    }
    const auto answer = parse_answer(words);
    if (!answer) return false;
    gpus[i].answers[first.substr(dot + 1)] = *answer;
  }
  return true;
}

void World::advance() {
  if (started < 0) return;
  const double now = clock() - started;
  while (!later.empty() && later.begin()->first <= now) {
    const std::string statement = later.begin()->second;
    later.erase(later.begin());
    static_cast<void>(run(statement));
  }
}

World& world() {
  static World* one = [] {
    auto* made = new World;  // never destroyed: a hanging call may be in it at exit
    if (const char* path = std::getenv("PYROMETER_STUB_NVML")) {
      if (std::FILE* file = std::fopen(path, "r")) {
        std::string script;
        char part[4096];
        for (std::size_t got = 0; (got = std::fread(part, 1, sizeof part, file)) > 0;) {
          script.append(part, got);
        }
        std::fclose(file);
        std::string problem;
        if (!made->load(script, &problem)) {
          std::fprintf(stderr, "%s: not understood: %s\n", path, problem.c_str());
        }
      }
    }
    return made;
  }();
  return *one;
}

}  // namespace nvml_stub

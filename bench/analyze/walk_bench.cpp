// Speed and memory of the import against a bare simdjson walk over the same file.
//
//   walk_bench [--rounds N] [--threads N] FILE
//
// Both run in one process, in turn, so that the state of the machine is the same for both; the
// medians are compared. The walk has the text in memory already, the import reads the file. Peak
// memory is that of an import in a process of its own.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "bare_walk.h"
#include "importers/importer.h"

namespace {

// Seconds that passed, and seconds that this process's threads spent: on a busy machine only the
// second says what the work costs.
struct Times {
  std::vector<double> wall;
  std::vector<double> cpu;

  template <typename Work>
  void measure(Work work) {
    const double wall_start = now(CLOCK_MONOTONIC);
    const double cpu_start = now(CLOCK_PROCESS_CPUTIME_ID);
    work();
    cpu.push_back(now(CLOCK_PROCESS_CPUTIME_ID) - cpu_start);
    wall.push_back(now(CLOCK_MONOTONIC) - wall_start);
  }

 private:
  static double now(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct ImportResult {
  std::int64_t json_bytes = 0;
  std::int64_t events = 0;
};

ImportResult import(const std::string& path, unsigned threads) {
  pyrometer::importers::ImportOptions options;
  options.threads = threads;
  const auto timeline = pyrometer::importers::import_paths({path}, options);
  if (!timeline) {
    std::fprintf(stderr, "walk_bench: %s\n", timeline.error().to_string().c_str());
    std::exit(1);
  }
  ImportResult result;
  for (const auto& rank : timeline->ranks) {
    result.json_bytes += rank.info.json_bytes;
    result.events += rank.info.event_count;
  }
  return result;
}

// Peak resident bytes of a process that does nothing but the import.
double peak_of_import(const std::string& path, unsigned threads) {
  const pid_t child = ::fork();
  if (child == 0) {
    (void)import(path, threads);
    ::_exit(0);
  }
  int status = 0;
  struct rusage usage {};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child || status != 0) {
    std::fprintf(stderr, "walk_bench: the import failed\n");
    std::exit(1);
  }
  return static_cast<double>(usage.ru_maxrss) * 1024.0;
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 7;
  unsigned threads = 1;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      rounds = std::max(std::atoi(argv[++i]), 1);
    } else if (std::strcmp(argv[i], "--threads") == 0 && i + 1 < argc) {
      threads = static_cast<unsigned>(std::max(std::atoi(argv[++i]), 1));
    } else {
      path = argv[i];
    }
  }
  if (path.empty()) {
    std::fprintf(stderr, "usage: walk_bench [--rounds N] [--threads N] FILE\n");
    return 2;
  }
  // First, while this process is still small: a child begins with its parent's memory.
  const double peak = peak_of_import(path, threads);

  // Compressed input has no bare walk of its own: the import alone is timed.
  const bool plain = path.ends_with(".json");
  std::optional<pyrometer::bench::BareWalk> walk;
  if (plain) walk.emplace(path);
  Times walks;
  Times imports;
  ImportResult imported;
  std::uint64_t walked_events = 0;
  for (int round = 0; round < rounds; ++round) {
    if (plain) walks.measure([&] { walked_events = walk->run().events; });
    imports.measure([&] { imported = import(path, threads); });
  }
  const double megabytes = static_cast<double>(imported.json_bytes) / 1e6;
  const auto print = [megabytes](const char* what, const Times& times) {
    const double wall = median(times.wall);
    std::printf("%-15s %.3f s  %.0f MB/s  (CPU %.3f s)\n", what, wall, megabytes / wall,
                median(times.cpu));
  };
  std::printf("file            %s\n", path.c_str());
  std::printf("json            %.1f MB, %lld events\n", megabytes,
              static_cast<long long>(imported.events));
  print("import", imports);
  if (plain) {
    print("bare walk", walks);
    if (static_cast<std::int64_t>(walked_events) != imported.events) {
      std::fprintf(stderr, "walk_bench: the walk saw %llu events\n",
                   static_cast<unsigned long long>(walked_events));
      return 1;
    }
    std::printf("import / walk   %.2f of its time, %.2f of its CPU time\n",
                median(imports.wall) / median(walks.wall), median(imports.cpu) / median(walks.cpu));
  }
  std::printf("peak memory     %.1f MB = %.3f bytes per byte of JSON\n", peak / 1e6,
              peak / static_cast<double>(imported.json_bytes));
  return 0;
}

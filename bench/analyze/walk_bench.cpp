// Speed and memory of import and analyses against a bare simdjson walk over the same file.
//
//   walk_bench [--rounds N] [--threads N] [--passes] FILE
//
// All run in one process, in turn, so that the state of the machine is the same for all; medians
// are compared. The cold walk does what any reader of the file must: it reads it, into fresh
// memory, and walks over it once. The warm walk has text and index in memory from a walk before.
// Peak memory is that of a process that does nothing but the import and the analyses. --passes
// shows the time of each pass instead.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/pass.h"
#include "analysis/what_if.h"
#include "bare_walk.h"
#include "importers/importer.h"
#include "rules/rule.h"

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

namespace model = pyrometer::model;

model::Timeline import(const std::string& path, unsigned threads) {
  pyrometer::importers::ImportOptions options;
  options.threads = threads;
  auto timeline = pyrometer::importers::import_paths({path}, options);
  if (!timeline) {
    std::fprintf(stderr, "walk_bench: %s\n", timeline.error().to_string().c_str());
    std::exit(1);
  }
  return std::move(*timeline);
}

// Everything that `pyrometer analyze` computes; returns the number of findings.
std::size_t analyse(const model::Timeline& timeline, unsigned threads) {
  std::unique_ptr<pyrometer::analysis::WhatIf> what_if;
  const model::JobAnalysis job =
      pyrometer::analysis::run_passes(timeline, {.threads = threads, .what_if = &what_if});
  return pyrometer::rules::diagnose(timeline, job, *what_if, {}).findings.size();
}

double peak_of_analysis(const std::string& path, unsigned threads) {
  const pid_t child = ::fork();
  if (child == 0) {
    (void)analyse(import(path, threads), threads);
    ::_exit(0);
  }
  int status = 0;
  struct rusage usage {};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child || status != 0) {
    std::fprintf(stderr, "walk_bench: the analysis failed\n");
    std::exit(1);
  }
  return static_cast<double>(usage.ru_maxrss) * 1024.0;
}

struct Options {
  int rounds = 5;
  unsigned threads = 1;
  bool passes = false;
  std::string path;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const bool has_value = i + 1 < argc;
    if (std::strcmp(argv[i], "--rounds") == 0 && has_value) {
      options.rounds = std::max(std::atoi(argv[++i]), 1);
    } else if (std::strcmp(argv[i], "--threads") == 0 && has_value) {
      options.threads = static_cast<unsigned>(std::max(std::atoi(argv[++i]), 1));
    } else if (std::strcmp(argv[i], "--passes") == 0) {
      options.passes = true;
    } else {
      options.path = argv[i];
    }
  }
  if (options.path.empty()) {
    std::fprintf(stderr, "usage: walk_bench [--rounds N] [--threads N] [--passes] FILE\n");
    std::exit(2);
  }
  return options;
}

void print_passes(const Options& options) {
  const model::Timeline timeline = import(options.path, options.threads);
  std::vector<Times> times(pyrometer::analysis::all_passes().size());
  for (int round = 0; round < options.rounds; ++round) {
    model::JobAnalysis job;
    job.ranks.resize(timeline.ranks.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
      const pyrometer::analysis::Pass& pass = pyrometer::analysis::all_passes()[i];
      times[i].measure([&] {
        if (pass.job != nullptr) return pass.job(timeline, job);
        if (pass.wide != nullptr) return pass.wide(timeline, job, {.threads = options.threads});
        for (std::size_t r = 0; r < job.ranks.size(); ++r) {
          pass.rank(timeline.ranks[r], job.ranks[r]);
        }
      });
    }
  }
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::string name(pyrometer::analysis::all_passes()[i].name);
    std::printf("%-15s %8.1f ms CPU\n", name.c_str(), median(times[i].cpu) * 1e3);
  }
}

void print_comparison(const Options& options) {
  // First, while this process is still small: a child begins with its parent's memory.
  const double peak = peak_of_analysis(options.path, options.threads);
  // A compressed file cannot be walked as it is: import and analyses alone are timed.
  const bool plain = options.path.ends_with(".json");
  Times cold;
  Times warm;
  Times imports;
  Times totals;
  std::int64_t json_bytes = 0;
  std::int64_t events = 0;
  for (int round = 0; round < options.rounds; ++round) {
    if (plain) {
      std::optional<pyrometer::bench::BareWalk> walk;
      std::uint64_t walked = 0;
      cold.measure([&] {
        walk.emplace(options.path);
        walked = walk->run().events;
      });
      warm.measure([&] { walked += walk->run().events; });
      if (round > 0 && walked != 2 * static_cast<std::uint64_t>(events)) {
        std::fprintf(stderr, "walk_bench: the walk saw other events than the import\n");
        std::exit(1);
      }
    }
    json_bytes = events = 0;
    totals.measure([&] {
      std::optional<model::Timeline> timeline;
      imports.measure([&] { timeline.emplace(import(options.path, options.threads)); });
      (void)analyse(*timeline, options.threads);
      for (const model::RankTimeline& rank : timeline->ranks) {
        json_bytes += rank.info.json_bytes;
        events += rank.info.event_count;
      }
    });
  }
  const double megabytes = static_cast<double>(json_bytes) / 1e6;
  std::printf("file                %s\njson                %.1f MB, %lld events, %u threads\n",
              options.path.c_str(), megabytes, static_cast<long long>(events), options.threads);
  const auto print = [&](const char* what, const Times& times) {
    std::printf("%-19s %.3f s  %5.0f MB/s  CPU %.3f s", what, median(times.wall),
                megabytes / median(times.wall), median(times.cpu));
    if (plain) {
      std::printf("  CPU / walk: %.2f cold, %.2f warm", median(times.cpu) / median(cold.cpu),
                  median(times.cpu) / median(warm.cpu));
    }
    std::printf("\n");
  };
  if (plain) print("bare walk, cold", cold);
  if (plain) print("bare walk, warm", warm);
  print("import", imports);
  print("import + analyses", totals);
  std::printf("peak memory         %.1f MB = %.3f bytes per byte of JSON\n", peak / 1e6,
              peak / static_cast<double>(json_bytes));
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.passes) {
    print_passes(options);
  } else {
    print_comparison(options);
  }
  return 0;
}

// Prints all readings of all sources once per round, to look at on a new machine.
//
// usage: sources_dump [SECONDS [PID]]     10 s; the tree of PID, by default of this process
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "sources/poller.h"

namespace {

using pyrometer::sources::Batch;
using pyrometer::sources::Subject;

std::string words(const Subject& subject) {
  std::string text(scope_name(subject.scope));
  if (subject.device >= 0) text += " " + std::to_string(subject.device);
  if (subject.pid >= 0) text += " pid " + std::to_string(subject.pid);
  if (!subject.part.empty()) text += " " + subject.part;
  return text;
}

void print(const Batch& batch, std::int64_t origin_ns) {
  std::printf("== %.*s/%.*s at %.3f s, took %.3f ms\n", static_cast<int>(batch.source.size()),
              batch.source.data(), static_cast<int>(batch.group.size()), batch.group.data(),
              static_cast<double>(batch.begin_ns - origin_ns) * 1e-9,
              static_cast<double>(batch.end_ns - batch.begin_ns) * 1e-6);
  for (const auto& event : batch.events) {
    std::printf("!! %-16s %-24s %lld %s\n", std::string(event_name(event.kind)).c_str(),
                words(event.subject).c_str(), static_cast<long long>(event.code),
                event.text.c_str());
  }
  for (const auto& reading : batch.readings) {
    const auto& metric = metric_info(reading.metric);
    std::printf("%-28s %-26s ", std::string(metric.id).c_str(), words(reading.subject).c_str());
    if (const double* number = reading.value.number()) {
      std::printf("%.6g %s\n", *number, std::string(metric.unit).c_str());
    } else if (const std::string* text = reading.value.text()) {
      std::printf("\"%s\"\n", text->c_str());
    } else {
      std::printf("-- %s\n", reading.value.reason().c_str());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int seconds = argc > 1 ? std::atoi(argv[1]) : 10;
  const int pid = argc > 2 ? std::atoi(argv[2]) : getpid();
  const std::int64_t origin = pyrometer::sources::monotonic_ns();
  pyrometer::sources::Poller poller(pyrometer::sources::make_sources({.root_pid = pid}),
                                    [origin](Batch& batch) { print(batch, origin); });
  if (const auto started = poller.start(); !started) {
    std::fprintf(stderr, "%s\n", started.error().to_string().c_str());
    return 1;
  }
  std::this_thread::sleep_for(std::chrono::seconds(seconds));
  const bool last = poller.sample_all(std::chrono::seconds(2));
  for (const auto& source : poller.health()) {
    std::printf("## %-14s state %d, %lld samples, CPU %.3f ms %s\n",
                std::string(source.name).c_str(), static_cast<int>(source.state),
                static_cast<long long>(source.samples), static_cast<double>(source.cpu_ns) * 1e-6,
                source.reason.c_str());
  }
  const bool stopped = poller.stop();
  std::printf("## last round %s, stopped %s\n", last ? "complete" : "incomplete",
              stopped ? "cleanly" : "leaving a thread behind");
  std::fflush(stdout);
  // Static objects are not torn down under a thread that was left behind.
  _exit(0);
}

#include "server/self_metrics.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "base/version.h"
#include "sources/procfs/proc_reader.h"

namespace pyrometer::server {
namespace {

using output::Exposition;
using output::Labels;
using output::MetricType;
using sources::EventKind;
using sources::SourceState;

constexpr double kNsPerSecond = 1e9;
constexpr double kMsPerSecond = 1e3;
constexpr std::array kStates = {SourceState::kStarting, SourceState::kRunning, SourceState::kFailed,
                                SourceState::kStale, SourceState::kStopped};
// Of the events that a source can tell.
constexpr std::array kKinds = {EventKind::kSourceFailed, EventKind::kSourceBack,
                               EventKind::kSourceStale,  EventKind::kDeviceFound,
                               EventKind::kDeviceLost,   EventKind::kDeviceBack,
                               EventKind::kXid};
// Xid numbers come from the driver: what a broken one tells must not fill the page.
constexpr std::size_t kMostXids = 1024;

Labels of_source(const readout::LiveSource& source) { return Labels().add("source", source.name); }

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Unix time at which this process began, to the precision of the kernel's clock ticks.
double start_time() {
  static const double kStart = [] {
    sources::ProcReader files("");
    const auto stat = files.read("/proc/self/stat");
    if (!stat) return 0.0;
    // The name in brackets may hold anything.
    std::string_view rest = stat->substr(std::min(stat->size(), stat->rfind(')') + 1));
    constexpr int kWordsBefore = 19;
    for (int i = 0; i < kWordsBefore; ++i) static_cast<void>(sources::take_word(rest));
    const auto ticks = sources::take_number(rest);
    auto boot = files.read("/proc/stat");
    while (ticks && boot && !boot->empty()) {
      std::string_view line = sources::take_line(*boot);
      if (sources::take_word(line) != "btime") continue;
      const auto seconds = sources::take_number(line);
      return seconds ? static_cast<double>(*seconds) +
                           static_cast<double>(*ticks) / static_cast<double>(::sysconf(_SC_CLK_TCK))
                     : 0.0;
    }
    return 0.0;
  }();
  return kStart;
}

}  // namespace

std::string_view state_text(SourceState state) {
  switch (state) {
    case SourceState::kStarting:
      return "starting";
    case SourceState::kRunning:
      return "running";
    case SourceState::kFailed:
      return "failed";
    case SourceState::kStale:
      return "stale";
    case SourceState::kStopped:
      break;
  }
  return "stopped";
}

std::vector<readout::LiveEvent> EventCounts::take(const readout::LiveView& view) {
  for (const readout::LiveSource& source : view.sources) {
    for (const EventKind kind : kKinds) {
      kinds_.try_emplace({std::string(sources::event_name(kind)), source.name}, 0);
    }
  }
  std::vector<readout::LiveEvent> fresh;
  for (const readout::LiveEvent& event : view.events) {
    if (event.number <= last_) continue;
    last_ = event.number;
    ++kinds_[{std::string(sources::event_name(event.kind)), event.source}];
    const Key xid{event.device_uuid, std::to_string(event.code)};
    if (event.kind == EventKind::kXid && (xids_.size() < kMostXids || xids_.contains(xid))) {
      ++xids_[xid];
    }
    fresh.push_back(event);
  }
  return fresh;
}

void EventCounts::write(Exposition& out) const {
  out.family("pyrometer_events_total", MetricType::kCounter,
             "Events since the exporter began, by kind.");
  for (const auto& [key, count] : kinds_) {
    out.sample(Labels().add("kind", std::get<0>(key)).add("source", std::get<1>(key)),
               static_cast<double>(count));
  }
  out.family("pyrometer_gpu_xid_events_total", MetricType::kCounter,
             "Xid errors of the driver since the exporter began.");
  for (const auto& [key, count] : xids_) {
    out.sample(Labels().add("uuid", std::get<0>(key)).add("xid", std::get<1>(key)),
               static_cast<double>(count));
  }
}

void write_source_metrics(const std::vector<readout::LiveSource>& sources, std::int64_t now_ns,
                          std::int64_t unix_ms, std::int64_t most_age_ns, Exposition& out) {
  out.family("pyrometer_source_up", MetricType::kGauge,
             "1 while the source can be read, 0 while it fails or hangs.");
  for (const auto& source : sources) {
    out.sample(of_source(source), source.state == SourceState::kRunning ? 1 : 0);
  }
  out.family("pyrometer_source_state", MetricType::kGauge, "1 for the state of the source.");
  for (const auto& source : sources) {
    for (const SourceState state : kStates) {
      out.sample(of_source(source).add("state", state_text(state)), source.state == state ? 1 : 0);
    }
  }
  out.family("pyrometer_source_problem_info", MetricType::kGauge,
             "Always 1; why the source cannot be read.");
  for (const auto& source : sources) {
    if (!source.reason.empty()) out.sample(of_source(source).add("reason", source.reason), 1);
  }
  out.family("pyrometer_source_staleness_seconds", MetricType::kGauge,
             "Time since the source was last read; absent where it never was.", "seconds");
  for (const auto& source : sources) {
    if (source.last_good_ns == 0) continue;
    out.sample(of_source(source),
               static_cast<double>(std::max<std::int64_t>(0, now_ns - source.last_good_ns)) /
                   kNsPerSecond);
  }
  out.family("pyrometer_source_last_success_timestamp_seconds", MetricType::kGauge,
             "Unix time at which the source was last read.", "seconds");
  for (const auto& source : sources) {
    if (source.last_good_ns == 0) continue;
    const double age = static_cast<double>(now_ns - source.last_good_ns) / kNsPerSecond;
    out.sample(of_source(source), static_cast<double>(unix_ms) / kMsPerSecond - age);
  }
  out.family("pyrometer_source_values_exported", MetricType::kGauge,
             "1 while the source's values are recent enough to be exported, see --max-age.");
  for (const auto& source : sources) {
    const bool is_recent = source.last_good_ns != 0 && now_ns - source.last_good_ns <= most_age_ns;
    out.sample(of_source(source), is_recent ? 1 : 0);
  }
  out.family("pyrometer_source_cpu_seconds_total", MetricType::kCounter,
             "CPU time spent on reading the source.", "seconds");
  for (const auto& source : sources) {
    out.sample(of_source(source), static_cast<double>(source.cpu_ns) / kNsPerSecond);
  }
}

void write_server_metrics(const HttpCounts& counts, const ScrapeTimes& scrapes, Exposition& out) {
  out.family("pyrometer_build_info", MetricType::kGauge, "Always 1; the version of the exporter.");
  out.sample(Labels().add("version", base::version()), 1);
  out.family("pyrometer_scrape_duration_seconds", MetricType::kSummary,
             "Time that it took to write this page, the present one left out.", "seconds");
  out.sample("_sum", {}, scrapes.seconds);
  out.sample("_count", {}, static_cast<double>(scrapes.count));
  out.family("pyrometer_last_scrape_duration_seconds", MetricType::kGauge,
             "Time that it took to write the page before this one.", "seconds");
  if (scrapes.count > 0) out.sample({}, scrapes.last_seconds);
  out.family("pyrometer_http_requests_total", MetricType::kCounter, "Requests understood.");
  out.sample({}, static_cast<double>(counts.requests));
  out.family("pyrometer_http_refused_total", MetricType::kCounter,
             "Bad requests, and clients for which there was no room.");
  out.sample({}, static_cast<double>(counts.refused));
  out.family("pyrometer_http_dropped_total", MetricType::kCounter,
             "Clients that were dropped because they were too slow.");
  out.sample({}, static_cast<double>(counts.dropped));
  out.family("pyrometer_http_connections", MetricType::kGauge, "Connections that are open.");
  out.sample({}, static_cast<double>(counts.connections));
  out.family("pyrometer_http_streams", MetricType::kGauge, "Streams that are open.");
  out.sample({}, static_cast<double>(counts.streams));
}

void write_process_self_metrics(Exposition& out) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  out.family("process_cpu_seconds_total", MetricType::kCounter,
             "User and system CPU time of the exporter.", "seconds");
  out.sample({}, seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
  sources::ProcReader files("");
  if (auto statm = files.read("/proc/self/statm")) {
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    const auto size = sources::take_number(*statm);
    const auto resident = sources::take_number(*statm);
    out.family("process_virtual_memory_bytes", MetricType::kGauge,
               "Virtual memory of the exporter.", "bytes");
    if (size) out.sample({}, static_cast<double>(*size) * page);
    out.family("process_resident_memory_bytes", MetricType::kGauge,
               "Resident memory of the exporter.", "bytes");
    if (resident) out.sample({}, static_cast<double>(*resident) * page);
  }
  if (start_time() > 0) {
    out.family("process_start_time_seconds", MetricType::kGauge,
               "Unix time at which the exporter began.", "seconds");
    out.sample({}, start_time());
  }
  std::error_code none;
  double open_files = 0;
  std::filesystem::directory_iterator at("/proc/self/fd", none);
  for (; !none && at != std::filesystem::directory_iterator(); at.increment(none)) ++open_files;
  out.family("process_open_fds", MetricType::kGauge, "Files that the exporter has open.");
  // One is the folder that is being read.
  if (open_files > 1) out.sample({}, open_files - 1);
}

}  // namespace pyrometer::server

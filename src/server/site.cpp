#include "server/site.h"

#include <algorithm>
#include <utility>

#include "base/version.h"
#include "readout/json.h"
#include "server/access.h"
#include "server/documents.h"
#include "server/recording_metrics.h"
#include "sources/procfs/proc_reader.h"
#include "sources/source.h"

namespace pyrometer::server {
namespace {

using output::Exposition;
using output::ExpositionFormat;
using readout::LiveView;
using readout::Snapshot;

constexpr int kUnauthorized = 401;
constexpr int kNotFound = 404;
constexpr int kNotAllowed = 405;
constexpr int kMisdirected = 421;
constexpr int kUnavailable = 503;

std::int64_t unix_ms_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Response json_response(std::string body, int status = 200) {
  return {.status = status, .content_type = "application/json", .body = std::move(body)};
}

std::string snapshot_json(const Snapshot& snapshot, base::JsonLayout layout) {
  std::string text;
  static_cast<void>(readout::write_json(snapshot, layout, [&text](std::string_view piece) {
    text += piece;
    return true;
  }));
  return text;
}

// One line becomes an event of that name.
std::string as_event(std::string_view name, std::string_view line) {
  return "event: " + std::string(name) + "\ndata: " + std::string(line) + "\n";
}

StreamPiece piece_of(std::string_view name, const std::string& line) {
  return {.ndjson = line, .events = as_event(name, line)};
}

bool is_stale(const readout::LiveSource& source, std::int64_t now, std::int64_t most) {
  return source.last_good_ns == 0 || now - source.last_good_ns > most;
}

std::string_view parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view item = query.substr(0, end);
    query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
    if (item.starts_with(name) && item.substr(name.size()).starts_with('=')) {
      return item.substr(name.size() + 1);
    }
  }
  return {};
}

}  // namespace

Site::Site(const readout::Live& live, const RecordingWatch& recordings, SiteOptions options)
    : live_(live), recordings_(recordings), options_(std::move(options)) {}

LiveView Site::view() const {
  LiveView view = live_.view();
  const std::int64_t now = sources::monotonic_ns();
  std::vector<std::string> without;
  for (const auto& source : view.sources) {
    if (is_stale(source, now, options_.max_age.count())) without.push_back(source.name);
  }
  const auto is_out = [&without](const readout::Device& device) {
    return std::ranges::find(without, device.source) != without.end();
  };
  if (std::ranges::none_of(view.snapshot->devices, is_out)) return view;
  if (thinned_from_ != view.snapshot || thinned_without_ != without) {
    auto thin = std::make_shared<Snapshot>(*view.snapshot);
    std::erase_if(thin->devices, is_out);
    if (thin->devices.empty()) {
      std::string text;
      for (const auto& source : view.sources) {
        if (!source.reason.empty()) text += (text.empty() ? "" : "; ") + source.reason;
      }
      thin->problem =
          base::Error{.kind = base::ErrorKind::kIo,
                      .message = text.empty() ? "what was read last is too old to be shown" : text};
    }
    thinned_ = std::move(thin);
    thinned_from_ = view.snapshot;
    thinned_without_ = std::move(without);
  }
  view.snapshot = thinned_;
  return view;
}

const std::string& Site::gpu_page(const LiveView& view, ExpositionFormat format) {
  Page& page = pages_.at(static_cast<std::size_t>(format));
  if (page.of == view.snapshot) return page.text;
  Exposition out(format);
  const auto devices = label_devices(*view.snapshot, options_.metrics);
  write_gpu_metrics(devices, out);
  if (options_.metrics.processes) write_process_metrics(devices, out);
  if (options_.metrics.dcgm) write_dcgm_metrics(devices, out);
  page.text = out.take();
  page.of = view.snapshot;
  return page.text;
}

Response Site::metrics(const Request& request) {
  const std::int64_t begin = sources::monotonic_ns();
  const ExpositionFormat format = accepts(request.header("accept"), "application/openmetrics-text")
                                      ? ExpositionFormat::kOpenMetrics
                                      : ExpositionFormat::kText;
  const LiveView now = view();
  static_cast<void>(events_.take(now));
  Exposition out(format);
  write_server_metrics(counts_ ? counts_() : HttpCounts{}, scrapes_, out);
  write_source_metrics(now.sources, begin, unix_ms_now(), options_.max_age.count(), out);
  events_.write(out);
  write_process_self_metrics(out);
  out.append(gpu_page(now, format));
  write_recording_metrics(*recordings_.list(), out);
  Response response;
  response.content_type = output::content_type(format);
  response.body = out.finish();
  constexpr double kSecond = 1e9;
  scrapes_.last_seconds = static_cast<double>(sources::monotonic_ns() - begin) / kSecond;
  scrapes_.seconds += scrapes_.last_seconds;
  ++scrapes_.count;
  return response;
}

Response Site::health() const {
  const LiveView now = view();
  const std::int64_t moment = sources::monotonic_ns();
  const Health health = health_of(now, moment, options_.max_age.count());
  return json_response(health_document(health, now, moment), health.is_ok ? 200 : kUnavailable);
}

Response Site::gpus(std::string_view wanted) const {
  const LiveView now = view();
  if (wanted.empty()) return json_response(snapshot_json(*now.snapshot, base::JsonLayout::kLines));
  Snapshot one{.unix_ms = now.snapshot->unix_ms, .host = now.snapshot->host};
  std::string uuid;  // of the GPU, whose instances come along
  for (const readout::Device& device : now.snapshot->devices) {
    const bool is_part = !uuid.empty() && device.is_mig &&
                         readout::text_of(device, readout::MetricId::kGpuParentUuid) == uuid;
    if (!readout::is_called(device, wanted) && !is_part) continue;
    if (!device.is_mig) uuid = readout::text_of(device, readout::MetricId::kGpuUuid);
    one.devices.push_back(device);
  }
  if (one.devices.empty()) {
    return error_response(kNotFound, "no such GPU: " + std::string(wanted));
  }
  return json_response(snapshot_json(one, base::JsonLayout::kLines));
}

Response Site::recordings(std::string_view rest) const {
  const RecordingList list = recordings_.list();
  if (rest.empty()) {
    return json_response(recordings_document(*list, live_.view().snapshot->host));
  }
  constexpr std::string_view kReport = "/report";
  const bool wants_report = rest.ends_with(kReport);
  const std::string_view name = wants_report ? rest.substr(0, rest.size() - kReport.size()) : rest;
  for (const RecordingStatus& one : *list) {
    if (one.name != name) continue;
    if (!wants_report)
      return json_response(recordings_document({one}, live_.view().snapshot->host));
    if (one.report != nullptr) return json_response(*one.report);
    return error_response(kNotFound, one.problem.empty() ? "not analysed yet" : one.problem);
  }
  return error_response(kNotFound, "no such recording: " + std::string(name));
}

Response Site::events(const Request& request) const {
  const auto since = sources::to_number(parameter(request.query, "since"));
  return json_response(events_document(live_.view(), since.value_or(0)));
}

// Begins with what is known, so that nobody waits for the first line.
Response Site::stream(const Request& request) const {
  const bool wants_events = accepts(request.header("accept"), "text/event-stream");
  const LiveView now = view();
  Response response;
  response.stream = wants_events ? StreamKind::kEvents : StreamKind::kNdjson;
  response.content_type = wants_events ? "text/event-stream" : "application/x-ndjson";
  if (now.number > 0) {
    StreamPiece piece =
        piece_of("snapshot", snapshot_json(*now.snapshot, base::JsonLayout::kInline));
    response.body = wants_events ? std::move(piece.events) : std::move(piece.ndjson);
  }
  return response;
}

std::vector<StreamPiece> Site::news(bool with_text) {
  const LiveView now = view();
  std::vector<StreamPiece> pieces;
  for (const readout::LiveEvent& event : events_.take(now)) {
    if (with_text) pieces.push_back(piece_of("event", event_line(event)));
  }
  if (now.number == told_) return pieces;
  told_ = now.number;
  if (with_text) {
    pieces.push_back(piece_of("snapshot", snapshot_json(*now.snapshot, base::JsonLayout::kInline)));
  }
  return pieces;
}

Response Site::index() const {
  Response response;
  response.content_type = "text/html; charset=utf-8";
  response.body =
      "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Pyrometer</title>"
      "<h1>Pyrometer " +
      std::string(base::version()) + "</h1><ul>";
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kLinks = {{
      {"/metrics", "for Prometheus"},
      {"/healthz", "whether the GPUs can be read"},
      {"/livez", "whether the server answers"},
      {"/api/v1/gpus", "all GPUs now; one by its number, UUID or PCI address below"},
      {"/api/v1/processes", "processes on GPUs"},
      {"/api/v1/recordings", "trainings that are being recorded; NAME/report below"},
      {"/api/v1/events", "what has happened"},
      {"/api/v1/stream", "snapshots and events as they come"},
  }};
  for (const auto& [path, what] : kLinks) {
    response.body += "<li><a href=\"" + std::string(path) + "\">" + std::string(path) + "</a> " +
                     std::string(what);
  }
  response.body += "</ul></html>\n";
  return response;
}

Response Site::page(const Request& request) {
  constexpr std::string_view kGpus = "/api/v1/gpus";
  constexpr std::string_view kRecordings = "/api/v1/recordings";
  // What follows the name and a slash; false for another name.
  std::string_view rest;
  const auto is_below = [&](std::string_view name) {
    rest = request.path;
    if (!rest.starts_with(name)) return false;
    rest.remove_prefix(name.size());
    if (!rest.empty() && !rest.starts_with('/')) return false;
    if (!rest.empty()) rest.remove_prefix(1);
    return true;
  };
  const std::string_view path = request.path;
  if (path == "/metrics") return metrics(request);
  if (path == "/healthz") return health();
  if (path == "/") return index();
  if (is_below(kGpus)) return gpus(rest);
  if (is_below(kRecordings)) return recordings(rest);
  if (path == "/api/v1/events") return events(request);
  if (path == "/api/v1/stream") return stream(request);
  if (path == "/api/v1/processes") {
    std::string text;
    static_cast<void>(
        readout::write_processes_json(*view().snapshot, [&text](std::string_view piece) {
          text += piece;
          return true;
        }));
    return json_response(std::move(text));
  }
  return error_response(kNotFound, "no such page");
}

Response Site::answer(const Request& request, const Listener& listener) {
  const bool is_tcp = listener.address().path.empty();
  if (is_tcp && listener.is_local() && !is_loopback_host(request.header("host"))) {
    return error_response(kMisdirected, "this address answers to the names of the loopback alone");
  }
  if (request.method != "GET" && request.method != "HEAD") {
    Response response = error_response(kNotAllowed, "only GET and HEAD");
    response.headers.emplace_back("Allow", "GET, HEAD");
    return response;
  }
  // Tells nothing, so that whoever restarts the server needs no token.
  if (request.path == "/livez") return {.body = "ok\n"};
  if (!options_.token.empty() && !is_authorized(request, options_.token)) {
    Response response = error_response(kUnauthorized, "a bearer token is needed");
    response.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"pyrometer\"");
    return response;
  }
  return page(request);
}

}  // namespace pyrometer::server

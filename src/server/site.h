// What is served: pages made from the last snapshot, never by asking a driver.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "output/exposition.h"
#include "readout/live.h"
#include "server/gpu_metrics.h"
#include "server/http_server.h"
#include "server/recording_watch.h"
#include "server/response.h"
#include "server/self_metrics.h"

namespace pyrometer::server {

struct SiteOptions {
  GpuMetricsOptions metrics;
  std::chrono::nanoseconds max_age =
      std::chrono::seconds(30);  // values that are older are not told
  std::string token;             // that requests have to carry; empty: none
};

// Used on the server's thread.
class Site {
 public:
  // All outlive the site.
  Site(const readout::Live& live, const RecordingWatch& recordings, SiteOptions options);

  [[nodiscard]] Response answer(const Request& request, const Listener& listener);
  // What has happened since the last call, for streams; counts events. `with_text`: whether there
  // is anybody to read it.
  [[nodiscard]] std::vector<StreamPiece> news(bool with_text);
  void set_counts(std::function<HttpCounts()> counts) { counts_ = std::move(counts); }

 private:
  using SnapshotPointer = std::shared_ptr<const readout::Snapshot>;
  // The view with the devices left out whose source has not told anything for too long.
  [[nodiscard]] readout::LiveView view() const;
  [[nodiscard]] const std::string& gpu_page(const readout::LiveView& view,
                                            output::ExpositionFormat format);
  [[nodiscard]] Response metrics(const Request& request);
  [[nodiscard]] Response health() const;
  [[nodiscard]] Response gpus(std::string_view wanted) const;
  [[nodiscard]] Response recordings(std::string_view rest) const;
  [[nodiscard]] Response events(const Request& request) const;
  [[nodiscard]] Response stream(const Request& request) const;
  [[nodiscard]] Response page(const Request& request);
  [[nodiscard]] Response index() const;

  const readout::Live& live_;
  const RecordingWatch& recordings_;
  SiteOptions options_;
  EventCounts events_;
  ScrapeTimes scrapes_;
  std::function<HttpCounts()> counts_;
  std::uint64_t told_ = 0;  // number of the last snapshot that streams were told of

  // The part of the metrics that changes with the snapshot alone, in each format.
  struct Page {
    SnapshotPointer of;
    std::string text;
  };
  std::array<Page, 2> pages_;
  // The last snapshot without its stale devices, so that it is made once.
  mutable SnapshotPointer thinned_from_, thinned_;
  mutable std::vector<std::string> thinned_without_;
};

}  // namespace pyrometer::server

#include "readout/collector.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "readout/host_name.h"
#include "sources/nvml/processes.h"

namespace pyrometer::readout {
namespace {

enum : std::size_t { kFastGroup, kSlowGroup, kOnceGroup };
constexpr std::array<std::size_t, 3> kGroupsInOrder = {kFastGroup, kSlowGroup, kOnceGroup};
// Hardware counters refuse two samples that are less than 100 ms apart.
constexpr auto kBetweenSamples = std::chrono::milliseconds(110);

// What a device is comes along with its first sample.
bool tells_what_it_is(const sources::Batch& batch) {
  return std::ranges::any_of(batch.readings, [](const sources::Reading& reading) {
    return reading.metric == MetricId::kGpuIndex;
  });
}

}  // namespace

Collector::Collector(CollectorOptions options)
    : options_(std::move(options)),
      owners_(options_.root, sources::nvml::in_host_pid_namespace(options_.root),
              options_.stand_in == nullptr ? sources::OwnerLookup{} : options_.stand_in->owners),
      host_(options_.stand_in == nullptr ? host_name() : options_.stand_in->host) {
  for (auto& source : sources::make_gpu_sources({.root = options_.root,
                      .gpus = options_.gpus,
                      .brief = options_.depth == Depth::kBrief,
                      .may_block = false,
                      .identify_always = true,
                      .stand_in = options_.stand_in})) {
    lanes_.push_back({.source = std::move(source)});
  }
}

Collector::~Collector() = default;

base::Result<void> Collector::take_group(Lane& lane, std::size_t group) {
  sources::Batch batch;
  batch.source = lane.source->name();
  batch.group = lane.source->groups()[group].name;
  auto sampled = lane.source->sample(group, batch);
  lane.is_identified = lane.is_identified || tells_what_it_is(batch);
  if (sampled) board_.take(batch);
  return sampled;
}

base::Result<void> Collector::sample(Lane& lane) {
  const bool is_first = !lane.is_started;
  if (is_first) {
    lane.is_identified = false;
    if (auto started = lane.source->start(); !started) return started;
    lane.is_started = true;
  }
  for (const std::size_t group : kGroupsInOrder) {
    if (group >= lane.source->groups().size()) continue;
    if (group == kOnceGroup && is_first && lane.is_identified) continue;
    if (auto sampled = take_group(lane, group); !sampled) return sampled;
  }
  if (!is_first || options_.depth != Depth::kTwice) return {};
  std::this_thread::sleep_for(kBetweenSamples);
  for (const std::size_t group : {kFastGroup, kSlowGroup}) {
    if (group >= lane.source->groups().size()) continue;
    if (auto sampled = take_group(lane, group); !sampled) return sampled;
  }
  return {};
}

Snapshot Collector::look() {
  Snapshot snapshot;
  snapshot.host = host_;
  std::optional<base::Error> problem;
  for (Lane& lane : lanes_) {
    if (const auto sampled = sample(lane); !sampled) {
      lane.source->stop();
      lane.is_started = false;
      board_.forget(lane.source->name());
      if (!problem) problem = sampled.error();
    }
  }
  const bool is_now = options_.stand_in == nullptr || !options_.stand_in->unix_ms;
  snapshot.unix_ms = is_now ? std::chrono::duration_cast<std::chrono::milliseconds>(
                                  std::chrono::system_clock::now().time_since_epoch())
                                  .count()
                            : options_.stand_in->unix_ms();
  snapshot.devices = board_.devices();
  if (snapshot.devices.empty()) snapshot.problem = std::move(problem);
  for (Device& device : snapshot.devices) {
    if (!options_.with_processes) device.processes.clear();
    for (Process& process : device.processes) {
      process.owner = owners_.look_up(process.pid, options_.with_arguments,
                                      text_of(device, MetricId::kGpuUuid), process.is_local);
      sources::add_rank(process.owner, process.pid, options_.rank_of);
    }
  }
  return snapshot;
}

}  // namespace pyrometer::readout

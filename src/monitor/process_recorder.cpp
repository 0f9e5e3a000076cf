#include "monitor/process_recorder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <utility>

#include "base/monotonic.h"

namespace pyrometer::monitor {
namespace {

// The hook looks at the control word ten times a second; twice that, for a loaded machine.
constexpr model::DurationNs kHookLooks = 200'000'000;

using recording::ActivityRow;
using recording::ActivityType;
using recording::RangeRow;
using recording::RangeType;

constexpr model::DurationNs kLiveSpan = 10'000'000'000;  // ns shown by the status line
constexpr model::DurationNs kLongPause = 1'000'000;      // ns: pauses from here on are kept as rows

// The program's name as the kernel knows it, never its arguments.
std::string program_of(std::uint32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

std::int32_t number(std::string_view text, std::int32_t fallback) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : fallback;
}

const char* type_word(std::size_t type) {
  switch (static_cast<ring::RecordType>(type)) {
    case ring::RecordType::kKernel:
      return "kernel";
    case ring::RecordType::kCopy:
      return "copy";
    case ring::RecordType::kMemset:
      return "memset";
    case ring::RecordType::kApiCall:
      return "api_call";
    case ring::RecordType::kSync:
      return "sync";
    case ring::RecordType::kRange:
      return "host_range";
    case ring::RecordType::kCounter:
      return "counter";
    case ring::RecordType::kInfo:
      return "info";
    default:
      return "other";
  }
}

}  // namespace

std::uint32_t ConfigTable::id_of(const recording::ConfigRow& c) {
  const std::array<std::uint32_t, 9> key = {c.grid[0],
                                            c.grid[1],
                                            c.grid[2],
                                            c.block[0],
                                            c.block[1],
                                            c.block[2],
                                            c.static_shared_bytes,
                                            c.dynamic_shared_bytes,
                                            static_cast<std::uint32_t>(c.registers_per_thread)};
  constexpr std::size_t kMost = 100'000;  // programs with ever new shapes
  if (const auto found = ids_.find(key); found != ids_.end()) return found->second;
  if (ids_.size() >= kMost) return 0;
  const auto id = static_cast<std::uint32_t>(ids_.size() + 1);
  ids_.emplace(key, id);
  rows_.emplace(id, c);
  writer_.add_config(id, c);
  return id;
}

ProcessRecorder::ProcessRecorder(ring::Reader reader, std::int64_t id, recording::Writer& writer,
                                 ConfigTable& configs, const RecorderOptions& options)
    : reader_(std::move(reader)),
      writer_(writer),
      configs_(configs),
      duty_(options.overhead_budget, options.measure_overhead),
      keep_(writer, id, options.keep),
      step_log_(writer, id),
      segmenter_(
          {writer.names(), configs.rows(), process_, devices_, capture_},
          [this](const model::RecordedStep& step) { on_step(step); },
          [this](Segment segment) { keep_.add(std::move(segment)); }),
      on_override_(options.on_override) {
  process_.id = id;
  process_.pid = static_cast<std::int32_t>(reader_.pid());
  process_.parent_pid = static_cast<std::int32_t>(reader_.parent_pid());
  process_.start = static_cast<std::int64_t>(reader_.created());
  process_.program = program_of(reader_.pid());
  process_.capture = "no GPU work seen";
}

std::size_t ProcessRecorder::drain() { return reader_.poll(*this); }

void ProcessRecorder::advance(model::TimeNs now, std::optional<bool> capture) {
  reader_.beat(static_cast<std::uint64_t>(now));
  segmenter_.advance(now);
  capture_.forget(last_step_end_ - kLiveSpan);
  const bool on = capture ? *capture : wants_capture(now);
  // Stacks are sampled in watched turns alone, so that what it costs is in the measured cost.
  std::uint32_t bits = on ? ring::kControlStackSampler : ring::kControlCaptureOff;
  if (sync_windows_.want_open(now, on)) bits |= ring::kControlSyncWindow;
  const auto has_window = [](std::uint32_t set) { return (set & ring::kControlSyncWindow) != 0; };
  if (has_window(bits) && !has_window(reader_.control())) capture_.disturb(now);
  if (!has_window(bits) && has_window(reader_.control())) capture_.disturb_until(now + kHookLooks);
  if (reader_.control() != bits) reader_.set_control(bits);
  note_drops(now);
  if (process_changed_) writer_.put_process(process_);
  process_changed_ = false;
  step_log_.save(segmenter_.pending_steps());
  write_lines();
  for (const model::RegionTotal& total : regions_) {
    if (total.count > 0) writer_.put_region_total(process_.id, total);
  }
  writer_.put_overhead(process_.id, duty_.estimate());
}

void ProcessRecorder::finish(model::TimeNs now) {
  while (drain() > 0) {
  }
  segmenter_.finish();
  keep_.finish();
  step_log_.flush();
  process_.end = now;
  process_changed_ = true;
  if (segmenter_.late() > 0) writer_.add_loss(process_.id, now, "late", segmenter_.late());
  const ring::ReaderCounts counts = reader_.counts();
  if (counts.malformed > 0) {
    writer_.add_loss(process_.id, now, "malformed", static_cast<std::int64_t>(counts.malformed));
  }
  advance(now);
  reader_.unlink();
}

recording::NameId ProcessRecorder::name(std::uint32_t local) const {
  return local < names_.size() ? names_[local] : 0;
}

void ProcessRecorder::on_string(std::uint32_t id, std::string_view text) {
  constexpr std::uint32_t kMost = 1U << 20;  // a ring is foreign: ids are not taken on trust
  if (id >= kMost) return;
  if (id >= names_.size()) names_.resize(id + 1, 0);
  names_[id] = writer_.names().intern(text);
}

void ProcessRecorder::on_config(const ring::KernelConfigBody& config) {
  constexpr std::uint32_t kMost = 1U << 20;
  if (config.id >= kMost) return;
  recording::ConfigRow row;
  std::copy(std::begin(config.grid), std::end(config.grid), row.grid);
  std::copy(std::begin(config.block), std::end(config.block), row.block);
  row.static_shared_bytes = config.static_shared_bytes;
  row.dynamic_shared_bytes = config.dynamic_shared_bytes;
  row.registers_per_thread = config.registers_per_thread;
  if (config.id >= config_ids_.size()) config_ids_.resize(config.id + 1, 0);
  config_ids_[config.id] = configs_.id_of(row);
}

ActivityRow ProcessRecorder::activity(const ring::ActivityBody& body, ActivityType type) const {
  ActivityRow row;
  row.type = type;
  row.start = static_cast<std::int64_t>(body.start);
  row.end = std::max(row.start, static_cast<std::int64_t>(body.end));
  row.correlation = body.correlation;
  row.stream = body.stream;
  row.device = body.device;
  row.graph = body.graph;
  if (type == ActivityType::kKernel) {
    row.name = name(body.kernel.name);
    const std::uint32_t config = body.kernel.config;
    row.config = config < config_ids_.size() ? config_ids_[config] : 0;
  } else {
    row.bytes = body.bytes;
    row.copy_kind = body.copy_kind;
    row.memory_kinds = body.memory_kinds;
  }
  return row;
}

void ProcessRecorder::on_kernel(std::uint32_t, const ring::ActivityBody& kernel) {
  used_device_ = true;
  segmenter_.add_activity(activity(kernel, ActivityType::kKernel));
}

void ProcessRecorder::on_copy(std::uint32_t, const ring::ActivityBody& copy) {
  used_device_ = true;
  segmenter_.add_activity(activity(copy, ActivityType::kCopy));
}

void ProcessRecorder::on_memset(std::uint32_t, const ring::ActivityBody& memset) {
  segmenter_.add_activity(activity(memset, ActivityType::kMemset));
}

void ProcessRecorder::on_api_call(std::uint32_t thread, const ring::ApiCallBody& call) {
  sync_windows_.add_call(writer_.names().text(name(call.name)));
  segmenter_.add_call({.start = static_cast<std::int64_t>(call.start),
                       .end = static_cast<std::int64_t>(std::max(call.start, call.end)),
                       .name = name(call.name),
                       .thread = thread,
                       .correlation = call.correlation,
                       .result = call.result});
}

// The call that waited says the same from the host's side.
void ProcessRecorder::on_sync(std::uint32_t, const ring::SyncBody&) {}

void ProcessRecorder::on_range(std::uint32_t thread, const ring::RangeBody& range) {
  RangeRow row;
  row.start = static_cast<std::int64_t>(range.start);
  row.end = static_cast<std::int64_t>(std::max(range.start, range.end));
  // A ring is foreign: sums of these must not overflow.
  constexpr std::int64_t kMost = std::int64_t{1} << 50U;  // bytes, indexes
  constexpr std::int64_t kMostSamples = 1'000'000'000;    // of one step, as of workers
  row.a = std::clamp<std::int64_t>(range.a, -1, kMost);
  row.b = range.b <= kMostSamples ? std::max<std::int64_t>(range.b, -1) : -1;
  row.name = name(range.name);
  row.thread = thread;
  if (range.kind == ring::RangeKind::kTrialStep) {
    row.flags = range.flags;
    writer_.add_trial_step(process_.id, row);
    return;
  }
  const auto kind = static_cast<std::size_t>(range.kind);
  row.type = kind < recording::kRangeTypes ? static_cast<RangeType>(kind) : RangeType::kUser;
  row.flags = range.flags;
  // The hook counted the FLOPs of this time, from Python: it was no time like others.
  if (row.type == RangeType::kProfiler && writer_.names().text(row.name) == "flops") {
    capture_.disturb(model::Interval{row.start, row.end});
  }
  note_region(row);
  segmenter_.add_range(row);
}

void ProcessRecorder::note_region(const RangeRow& row) {
  if (row.type == RangeType::kStep) sync_windows_.add_step();
  if (row.type == RangeType::kSyncCall) note_blocking_line(row);
  if (row.type == RangeType::kStep || row.type == RangeType::kSyncCall) return;
  const bool is_long = recording::is_pause(row.type) && row.end - row.start >= kLongPause;
  if (row.thread != static_cast<std::uint32_t>(process_.pid)) {
    // Does not stop the training; but the program's author asked to see it.
    if (is_long && row.type == RangeType::kUser) writer_.add_range(process_.id, row);
    return;
  }
  model::RegionTotal& total = regions_[static_cast<std::size_t>(row.type)];
  if (total.count == 0) total.kind = recording::range_type_name(row.type);
  ++total.count;
  total.total += row.end - row.start;
  total.longest = std::max(total.longest, row.end - row.start);
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 60U;
  if (row.type == RangeType::kCheckpoint && row.a > 0 && total.amount < kMostBytes) {
    total.amount += row.a;
  }
  if (is_long) writer_.add_range(process_.id, row);
}

// Null: there are too many. What it points to will be written.
ProcessRecorder::Line* ProcessRecorder::line_of(Lines& lines, recording::NameId name) {
  constexpr std::size_t kMostLines = 20'000;
  if (lines.size() >= kMostLines && !lines.contains(name)) return nullptr;
  Line& line = lines[name];
  line.written = false;
  return &line;
}

void ProcessRecorder::note_blocking_line(const RangeRow& row) {
  Line* line = row.name == 0 ? nullptr : line_of(blocking_lines_, row.name);
  if (line == nullptr) return;
  ++line->count;
  line->total = std::min(line->total + (row.end - row.start), base::kLatestMonotonicNs);
  line->longest = std::max(line->longest, row.end - row.start);
}

void ProcessRecorder::write_lines() {
  for (auto& [name, line] : host_lines_) {
    if (!line.written) writer_.put_host_line(process_.id, name, line.count);
    line.written = true;
  }
  for (auto& [name, line] : blocking_lines_) {
    if (!line.written) {
      writer_.put_blocking_line(process_.id, name, line.count, line.total, line.longest);
    }
    line.written = true;
  }
}

void ProcessRecorder::on_counter(std::uint32_t, const ring::CounterBody& counter) {
  const recording::NameId id = name(counter.name);
  // Stack samples are counted, not kept one by one.
  if (writer_.names().text(id).starts_with("stack ")) {
    if (Line* line = line_of(host_lines_, id); line != nullptr) {
      constexpr double kMostSamples = 1'000'000;  // of one second; not a number: none
      const bool sound = counter.value >= 1 && counter.value <= kMostSamples;
      line->count += sound ? static_cast<std::int64_t>(counter.value) : 1;
    }
    return;
  }
  if (!std::isfinite(counter.value)) return;  // SQLite has no NaN
  writer_.add_counter(process_.id, id, static_cast<std::int64_t>(counter.time), counter.value);
}

void ProcessRecorder::on_info(const ring::InfoBody& info) {
  const std::string_view key = writer_.names().text(name(info.key));
  const std::string_view value = writer_.names().text(name(info.value));
  if (key.empty()) return;
  writer_.add_info(process_.id, static_cast<std::int64_t>(info.time), key, value);
  if (key == "capture.refused") {
    process_.capture = "off: " + std::string(value);
    process_changed_ = true;
  }
  constexpr std::string_view kOverride = "override.";
  if (key.starts_with(kOverride) && on_override_) {
    on_override_(process_.id, key.substr(kOverride.size()), value);
  }
  take_device_info(key, value);
  take_rank_info(key, value);
}

void ProcessRecorder::take_rank_info(std::string_view key, std::string_view value) {
  const auto take = [&](std::string_view wanted, std::int32_t& field) {
    if (key != wanted) return;
    field = number(value, field);
    process_changed_ = true;
  };
  // Launchers set the environment; the process group, once it is made, has the last word.
  take("env.RANK", process_.rank);
  take("env.WORLD_SIZE", process_.world_size);
  take("env.LOCAL_RANK", process_.local_rank);
  take("distributed.rank", process_.rank);
  take("distributed.world_size", process_.world_size);
}

// "gpu.<ordinal>.<what>".
void ProcessRecorder::take_device_info(std::string_view key, std::string_view value) {
  constexpr std::string_view kPrefix = "gpu.";
  if (!key.starts_with(kPrefix)) return;
  key.remove_prefix(kPrefix.size());
  const std::size_t dot = key.find('.');
  if (dot == key.npos) return;
  const std::int32_t ordinal = number(key.substr(0, dot), -1);
  constexpr std::int32_t kMost = 1024;
  if (ordinal < 0 || ordinal >= kMost) return;
  const std::string_view what = key.substr(dot + 1);
  auto device = std::find_if(devices_.begin(), devices_.end(),
                             [ordinal](const auto& one) { return one.ordinal == ordinal; });
  if (device == devices_.end()) {
    devices_.push_back({});
    device = devices_.end() - 1;
    device->ordinal = ordinal;
  }
  if (what == "name") device->name = std::string(value);
  if (what == "uuid") device->uuid = std::string(value);
  if (what == "sm_count") device->multiprocessors = number(value, -1);
  if (what == "total_memory_bytes") {
    std::int64_t bytes = -1;
    (void)std::from_chars(value.data(), value.data() + value.size(), bytes);
    device->total_memory_bytes = bytes;
  }
  if (what == "compute_capability") {
    const std::size_t point = value.find('.');
    device->compute_major = number(value.substr(0, point), -1);
    if (point != value.npos) device->compute_minor = number(value.substr(point + 1), -1);
  }
  writer_.put_device(process_.id, *device);
}

void ProcessRecorder::on_capture(const ring::CaptureBody& capture) {
  const bool on = capture.on != 0;
  capture_.add(static_cast<std::int64_t>(capture.time), on, capture.reason);
  writer_.add_capture(process_.id, static_cast<std::int64_t>(capture.time), on,
                      reason_text(capture.reason));
  if (on) {
    process_.capture = "on";
  } else if (capture.reason != ring::CaptureReason::kDutyCycle &&
             capture.reason != ring::CaptureReason::kProcessEnds) {
    process_.capture = "off: " + reason_text(capture.reason);
  }
  process_changed_ = true;
}

void ProcessRecorder::on_loss(const ring::LossBody& loss) {
  writer_.add_loss(process_.id, static_cast<std::int64_t>(loss.time), type_word(loss.type),
                   static_cast<std::int64_t>(std::min<std::uint64_t>(loss.count, 1ULL << 62U)));
}

void ProcessRecorder::note_drops(model::TimeNs now) {
  const auto dropped = reader_.dropped();
  for (std::size_t type = 0; type < dropped.size(); ++type) {
    if (dropped[type] <= dropped_[type]) continue;
    writer_.add_loss(process_.id, now, type_word(type),
                     static_cast<std::int64_t>(dropped[type] - dropped_[type]));
    dropped_[type] = dropped[type];
  }
}

void ProcessRecorder::on_step(const model::RecordedStep& step) {
  step_log_.add(step);
  recent_.push_back(step);
  while (recent_.back().span.end - recent_.front().span.end > kLiveSpan) recent_.pop_front();
  if (step.count == 0 || step.span.end == last_step_end_) return;
  last_step_end_ = step.span.end;
  steps_ += step.count;
  constexpr std::int64_t kWarmUp = 3;
  if (!used_device_ || steps_ <= kWarmUp) return;
  const model::Interval span{step.span.end - step.longest, step.span.end};
  duty_.add_step(span, step.captured, capture_.changes_in(span));
}

LiveState ProcessRecorder::live() const {
  LiveState state;
  state.steps = steps_;
  model::DurationNs time = 0;
  std::int64_t count = 0;
  std::int64_t samples = 0;
  bool samples_known = true;
  model::TimeNs last = 0;
  for (const model::RecordedStep& step : recent_) {
    for (std::size_t i = 0; i < step.causes.size(); ++i) state.causes[i] += step.causes[i];
    if (step.count == 0 || step.span.end == last) continue;
    last = step.span.end;
    time += step.span.length();
    count += step.count;
    samples += step.samples;
    samples_known = samples_known && step.samples >= 0;
  }
  if (count > 0) state.step_time = time / count;
  if (count > 0 && samples_known && time > 0) {
    state.samples_per_second = static_cast<double>(samples) * 1e9 / static_cast<double>(time);
  }
  return state;
}

}  // namespace pyrometer::monitor

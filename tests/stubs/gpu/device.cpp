// Streams, calls and the log of the simulated GPU.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "cbids.h"
#include "stub_gpu.h"

namespace {

std::uint64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

void sleep_until(std::uint64_t time) {
  const timespec until{.tv_sec = static_cast<time_t>(time / 1'000'000'000),
                       .tv_nsec = static_cast<long>(time % 1'000'000'000)};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

std::atomic<StubSink> sink{nullptr};
std::atomic<std::uint32_t> next_correlation{1};
std::atomic<std::uint32_t> next_graph{1};
std::atomic<std::uint32_t> drops{0};
std::atomic<std::uint32_t> lost_times{0};
std::mutex streams_lock;
// Not destroyed: threads launch while the process exits.
auto& stream_ends =
    *new std::map<std::uint32_t, std::uint64_t>;  // when all that was launched has ended

bool take_one(std::atomic<std::uint32_t>& counter) {
  std::uint32_t left = counter.load();
  while (left > 0 && !counter.compare_exchange_weak(left, left - 1)) {
  }
  return left > 0;
}

// Lines are written whole, so that they survive any end of the process.
void log_line(const char* format, const StubActivity& a, const char* type) {
  static const int fd = [] {
    const char* path = std::getenv("PYROMETER_STUB_LOG");
    return path == nullptr ? -1 : ::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }();
  if (fd < 0) return;
  char line[512];
  const int length = std::snprintf(
      line, sizeof line, format, type, a.name, a.correlation,
      a.type >= STUB_RUNTIME_CALL ? a.thread : a.stream, static_cast<unsigned long long>(a.start),
      static_cast<unsigned long long>(a.end), static_cast<unsigned long long>(a.bytes),
      static_cast<unsigned>(::getpid()));
  [[maybe_unused]] const auto written = ::write(fd, line, static_cast<std::size_t>(length));
}

const char* type_name(StubType type) {
  switch (type) {
    case STUB_KERNEL:
      return "kernel";
    case STUB_COPY:
    case STUB_PEER_COPY:
      return "copy";
    case STUB_MEMSET:
      return "memset";
    default:
      return "call";
  }
}

void deliver(const StubActivity& activity) {
  log_line("%s %s %u %u %llu %llu %llu %u\n", activity, type_name(activity.type));
  if (const StubSink to = sink.load(); to != nullptr) to(&activity);
}

// A call into CUDA that is under way: its record comes when it returns.
class Call {
 public:
  explicit Call(const StubCall& call) {
    activity_.type = call.driver ? STUB_DRIVER_CALL : STUB_RUNTIME_CALL;
    activity_.name = call.name;
    activity_.cbid = call.cbid;
    activity_.correlation = next_correlation.fetch_add(1);
    activity_.thread = static_cast<std::uint32_t>(::syscall(SYS_gettid));
    activity_.start = now_ns();
  }
  ~Call() {
    activity_.end = now_ns();
    deliver(activity_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Puts work on a stream; returns when it ends.
  std::uint64_t launch(StubActivity work, std::uint64_t duration) const {
    work.correlation = activity_.correlation;
    work.lost_times = take_one(lost_times) ? 1 : 0;
    {
      const std::lock_guard lock(streams_lock);
      std::uint64_t& end = stream_ends[work.stream];
      work.start = std::max(now_ns(), end);
      work.end = end = work.start + duration;
    }
    deliver(work);
    return work.end;
  }

 private:
  StubActivity activity_{};
};

void wait_for(std::uint64_t end) {
  if (!stub_is_fast()) sleep_until(end);
}

std::uint64_t stream_end(std::uint32_t stream) {
  const std::lock_guard lock(streams_lock);
  return stream_ends[stream];
}

// Names live as long as the process, as those of CUPTI do.
const char* lasting(const char* name) {
  static std::mutex lock;
  static auto* const names = new std::set<std::string>;
  const std::lock_guard guard(lock);
  return names->insert(name).first->c_str();
}

StubActivity kernel_activity(const char* kernel, std::uint32_t stream) {
  return {.type = STUB_KERNEL, .name = lasting(kernel), .stream = stream};
}

}  // namespace

void stub_set_sink(StubSink to) { sink = to; }

uint32_t stub_take_drop() { return take_one(drops) ? 1 : 0; }

void stub_drop(uint32_t count) { drops += count; }

void stub_lose_times(uint32_t count) { lost_times += count; }

int stub_launch(const char* kernel, uint64_t duration_ns, uint32_t stream) {
  const Call call(kLaunchKernel);
  call.launch(kernel_activity(kernel, stream), duration_ns);
  return 0;
}

int stub_driver_launch(const char* kernel, uint64_t duration_ns, uint32_t stream) {
  const Call call(kDriverLaunchKernel);
  call.launch(kernel_activity(kernel, stream), duration_ns);
  return 0;
}

int stub_graph_launch(const char* kernel, uint32_t count, uint64_t duration_ns, uint32_t stream) {
  const Call call(kGraphLaunch);
  StubActivity work = kernel_activity(kernel, stream);
  work.graph = next_graph.fetch_add(1);
  for (uint32_t i = 0; i < count; ++i) call.launch(work, duration_ns);
  return 0;
}

int stub_copy(const char* kind, uint64_t bytes, int pageable, uint64_t duration_ns,
              uint32_t stream) {
  // CUPTI's numbers: copies 1 h2d, 2 d2h, 8 d2d, 10 p2p; memory 1 pageable, 2 pinned, 3 device.
  const Call call(pageable ? kMemcpy : kMemcpyAsync);
  const bool from_host = std::strcmp(kind, "h2d") == 0;
  const bool to_host = std::strcmp(kind, "d2h") == 0;
  const bool peer = std::strcmp(kind, "p2p") == 0;
  const auto host = static_cast<std::uint8_t>(pageable ? 1 : 2);
  StubActivity work{.type = peer ? STUB_PEER_COPY : STUB_COPY, .name = kind, .stream = stream};
  work.bytes = bytes;
  work.copy_kind = static_cast<std::uint8_t>(from_host ? 1 : to_host ? 2 : peer ? 10 : 8);
  work.source_kind = from_host ? host : std::uint8_t{3};
  work.destination_kind = to_host ? host : std::uint8_t{3};
  const std::uint64_t end = call.launch(work, duration_ns);
  if (pageable) wait_for(end);
  return 0;
}

int stub_memset(uint64_t bytes, uint64_t duration_ns, uint32_t stream) {
  const Call call(kMemsetAsync);
  StubActivity work{.type = STUB_MEMSET, .name = "memset", .stream = stream};
  work.bytes = bytes;
  work.destination_kind = 3;
  call.launch(work, duration_ns);
  return 0;
}

int stub_stream_synchronize(uint32_t stream) {
  const Call call(kStreamSynchronize);
  wait_for(stream_end(stream));
  return 0;
}

int stub_device_synchronize() {
  const Call call(kDeviceSynchronize);
  std::uint64_t end = 0;
  {
    const std::lock_guard lock(streams_lock);
    for (const auto& [stream, stream_end] : stream_ends) end = std::max(end, stream_end);
  }
  wait_for(end);
  return 0;
}

int stub_malloc(uint64_t) {
  const Call call(kMalloc);
  return 0;
}

int stub_get_device() {
  const Call call(kGetDevice);
  return 0;
}

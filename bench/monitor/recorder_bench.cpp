// What the monitor's side of a recording costs: a training loop bound by launches, made up record
// by record, goes through the ring, the recorder and the file as fast as it can, with times of a
// run in real time. Printed is the processor time per second of that run, as a share of one core,
// beside that of only reading the ring: the limit that no recorder can beat.
//
// usage: recorder_bench [SECONDS [KERNELS_PER_SECOND [KERNELS_PER_STEP]]]     default 120 20000 20
#include <fmt/format.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "monitor/allocator.h"
#include "monitor/process_recorder.h"
#include "recording/writer.h"
#include "ring/reader.h"
#include "ring/writer.h"

namespace {

using namespace pyrometer;
using ring::RangeKind;
using ring::RecordType;

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kPoll = kSecond / 10;
constexpr std::uint32_t kNames = 20;  // of kernels
constexpr std::uint32_t kSlots = 1U << 16U;

double thread_cpu() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double resident_mib() {
  std::ifstream file("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  file >> size >> resident;
  return static_cast<double>(resident * ::sysconf(_SC_PAGESIZE)) / (1 << 20);
}

// Writes the steps of a training loop, each with its launches, kernels, a loss that is read back,
// and the hook's ranges.
class Loop {
 public:
  Loop(ring::Writer& writer, std::uint64_t start, double kernels_per_second, std::uint32_t per_step)
      : writer_(writer),
        per_step_(per_step),
        at_(start),
        gap_(static_cast<std::uint64_t>(1e9 / kernels_per_second)),
        thread_(static_cast<std::uint32_t>(::getpid())) {
    launch_ = writer_.intern_name("cudaLaunchKernel");
    sync_ = writer_.intern_name("cudaStreamSynchronize");
    copy_ = writer_.intern_name("cudaMemcpyAsync");
    model_ = writer_.intern_name("MLP");
    sgd_ = writer_.intern_name("SGD");
    for (std::uint32_t i = 0; i < kNames; ++i) {
      kernels_[i] = writer_.intern_name(
          i % 4 == 0 ? "sm90_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize" + std::to_string(i)
                     : "void at::native::vectorized_elementwise_kernel<4, Functor" +
                           std::to_string(i) + ">(int)");
    }
    const ring::CaptureBody on{.time = start, .on = 1, .reason = ring::CaptureReason::kStarted};
    writer_.write(RecordType::kCapture, 0, on);
  }

  void write_until(std::uint64_t end) {
    while (at_ < end) step();
  }

 private:
  void range(RangeKind kind, std::uint64_t start, std::uint64_t end, std::uint32_t name,
             std::int64_t a = 0, std::int64_t b = 0) {
    const ring::RangeBody body{
        .start = start, .end = end, .a = a, .b = b, .name = name, .kind = kind, .flags = 0};
    writer_.write(RecordType::kRange, thread_, body);
  }

  void call(std::uint32_t name, std::uint64_t start, std::uint64_t end) {
    const ring::ApiCallBody body{
        .start = start, .end = end, .correlation = correlation_, .name = name, .result = 0};
    writer_.write(RecordType::kApiCall, thread_, body);
  }

  void step() {
    const std::uint64_t begin = at_;
    range(RangeKind::kInput, at_, at_ + gap_ / 4, 0, -1, 0);
    const std::uint64_t forward = at_ + gap_ / 2;
    for (std::uint32_t i = 0; i < per_step_; ++i) {
      ++correlation_;
      call(launch_, at_ + gap_ / 2, at_ + gap_ / 2 + gap_ / 8);
      ring::ActivityBody body{.start = at_ + gap_,
                              .end = at_ + gap_ + gap_ / 3,
                              .correlation = correlation_,
                              .stream = 7};
      body.kernel.name = kernels_[i % kNames];
      ring::KernelConfigBody config{};
      config.grid[0] = 1 + i % kNames;
      config.grid[1] = config.grid[2] = config.block[1] = config.block[2] = 1;
      config.block[0] = 128;
      body.kernel.config = writer_.intern_config(config);
      writer_.write(RecordType::kKernel, 0, body);
      at_ += gap_;
    }
    range(RangeKind::kForward, forward, begin + per_step_ * 2 / 5 * gap_, model_);
    range(RangeKind::kBackward, begin + per_step_ * 2 / 5 * gap_, begin + per_step_ * 3 / 4 * gap_,
          0);
    range(RangeKind::kOptimizer, begin + per_step_ * 3 / 4 * gap_, at_, sgd_);
    ++correlation_;
    ring::ActivityBody body{.start = at_ + gap_ / 2,
                            .end = at_ + gap_,
                            .correlation = correlation_,
                            .stream = 7,
                            .copy_kind = 2};
    body.bytes = 4;
    writer_.write(RecordType::kCopy, 0, body);
    call(copy_, at_, at_ + gap_ / 2);
    ++correlation_;
    call(sync_, at_ + gap_ / 2, at_ + gap_ + gap_ / 2);
    at_ += 2 * gap_;
    range(RangeKind::kStep, begin, at_, 0, step_++, 32);
  }

  ring::Writer& writer_;
  std::uint32_t per_step_;
  std::uint64_t at_;
  std::uint64_t gap_;  // between launches, ns
  std::uint32_t thread_;
  std::uint32_t launch_ = 0, sync_ = 0, copy_ = 0, model_ = 0, sgd_ = 0;
  std::uint32_t kernels_[kNames] = {};
  std::uint32_t correlation_ = 0;
  std::int64_t step_ = 0;
};

class Nothing final : public ring::RecordSink {
 public:
  void on_string(std::uint32_t, std::string_view) override {}
  void on_config(const ring::KernelConfigBody&) override {}
  void on_kernel(std::uint32_t, const ring::ActivityBody& body) override { sum += body.end; }
  void on_copy(std::uint32_t, const ring::ActivityBody& body) override { sum += body.end; }
  void on_memset(std::uint32_t, const ring::ActivityBody& body) override { sum += body.end; }
  void on_api_call(std::uint32_t, const ring::ApiCallBody& body) override { sum += body.end; }
  void on_sync(std::uint32_t, const ring::SyncBody&) override {}
  void on_range(std::uint32_t, const ring::RangeBody& body) override { sum += body.end; }
  void on_counter(std::uint32_t, const ring::CounterBody&) override {}
  void on_info(const ring::InfoBody&) override {}
  void on_capture(const ring::CaptureBody&) override {}
  void on_loss(const ring::LossBody&) override {}
  std::uint64_t sum = 0;
};

struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("recorder_bench." + std::to_string(::getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
};

ring::Reader open_only(const Folder& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path)) {
    if (entry.path().extension() != ".ring") continue;
    auto reader = ring::Reader::open(entry.path().string());
    if (reader) return std::move(*reader);
  }
  std::fputs("recorder_bench: no ring\n", stderr);
  std::exit(1);
}

double only_read(std::uint64_t seconds, double rate, std::uint32_t per_step, std::size_t* records) {
  const Folder folder;
  ring::CreateError error = ring::CreateError::kNone;
  ring::Writer* writer = ring::Writer::create(folder.path.string(), kSlots, &error);
  ring::Reader reader = open_only(folder);
  Nothing sink;
  const std::uint64_t start = ring::monotonic_ns();
  Loop loop(*writer, start, rate, per_step);
  double cpu = 0;
  for (std::uint64_t at = start; at < start + seconds * kSecond; at += kPoll) {
    loop.write_until(at);
    const double before = thread_cpu();
    *records += reader.poll(sink);
    cpu += thread_cpu() - before;
  }
  reader.unlink();
  return cpu;
}

int bench(std::uint64_t seconds, double rate, std::uint32_t per_step) {
  monitor::keep_freed_memory();
  std::size_t read_records = 0;
  const double limit = only_read(seconds, rate, per_step, &read_records);
  const Folder folder;
  ring::CreateError error = ring::CreateError::kNone;
  ring::Writer* ring_writer = ring::Writer::create(folder.path.string(), kSlots, &error);
  auto file = recording::Writer::create((folder.path / "bench.pyro").string());
  if (ring_writer == nullptr || !file) {
    std::fputs("recorder_bench: cannot make its files\n", stderr);
    return 1;
  }
  monitor::ConfigTable configs(**file);
  monitor::RecorderOptions options;
  options.overhead_budget = 0;  // always on: the dearest case
  monitor::ProcessRecorder recorder(open_only(folder), 1, **file, configs, options);
  const std::uint64_t start = ring::monotonic_ns();
  Loop loop(*ring_writer, start, rate, per_step);
  double drain = 0;
  double advance = 0;
  double commit = 0;
  double worst = 0;
  double half_time = 0;  // spent in the second half: no longer in the first, detailed steps
  std::size_t records = 0;
  std::uint64_t polls = 0;
  for (std::uint64_t at = start; at < start + seconds * kSecond; at += kPoll) {
    loop.write_until(at);
    const double t0 = thread_cpu();
    records += recorder.drain();
    const double t1 = thread_cpu();
    double t2 = t1;
    double t3 = t1;
    if (++polls % 5 == 0) {
      recorder.advance(static_cast<model::TimeNs>(at));
      t2 = thread_cpu();
      (*file)->commit();
      t3 = thread_cpu();
    }
    drain += t1 - t0;
    advance += t2 - t1;
    commit += t3 - t2;
    worst = std::max(worst, t3 - t0);
    if (at > start + seconds * kSecond / 2) half_time += t3 - t0;
    if (polls % (10 * std::max<std::uint64_t>(1, seconds / 6)) == 0) {
      fmt::print("  {:>5} s: {:.1f} MiB resident\n", (at - start) / kSecond, resident_mib());
    }
  }
  const double f0 = thread_cpu();
  recorder.finish(static_cast<model::TimeNs>(start + seconds * kSecond));
  (*file)->commit();
  (*file)->finish();
  const double finish = thread_cpu() - f0;
  const double whole = drain + advance + commit;
  const auto share = [&](double cpu) { return 100 * cpu / static_cast<double>(seconds); };
  fmt::print("{} s of a run with {:.0f} kernels/s: {} records, {:.0f} per second\n", seconds, rate,
             records, static_cast<double>(records) / static_cast<double>(seconds));
  fmt::print("recorder        {:.2f}% of a core (take in {:.2f}%, steps {:.2f}%, commit {:.2f}%)\n",
             share(whole), share(drain), share(advance), share(commit));
  fmt::print("  second half   {:.2f}%\n", 2 * share(half_time));
  fmt::print("  per record    {:.0f} ns; longest turn {:.1f} ms; finish {:.0f} ms\n",
             1e9 * whole / static_cast<double>(records), 1e3 * worst, 1e3 * finish);
  fmt::print("only reading    {:.2f}% of a core ({:.0f} ns per record): {:.1f} times less\n",
             share(limit), 1e9 * limit / static_cast<double>(read_records), whole / limit);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      "peak memory     {:.1f} MiB, the ring's {} MiB with it; the file has {:.1f} MiB\n",
      static_cast<double>(usage.ru_maxrss) / 1024, kSlots * ring::kSlotBytes >> 20U,
      static_cast<double>(std::filesystem::file_size(folder.path / "bench.pyro")) / (1 << 20));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::uint64_t seconds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 120;
  const double rate = argc > 2 ? std::strtod(argv[2], nullptr) : 20'000;
  const std::uint64_t per_step = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 20;
  if (seconds == 0 || rate <= 0 || per_step == 0 || per_step > 100'000) {
    std::fputs("usage: recorder_bench [SECONDS [KERNELS_PER_SECOND [KERNELS_PER_STEP]]]\n", stderr);
    return 2;
  }
  return bench(seconds, rate, static_cast<std::uint32_t>(per_step));
}

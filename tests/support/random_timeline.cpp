#include "tests/support/random_timeline.h"

#include <algorithm>
#include <string>

namespace pyrometer::testing {
namespace {

using model::ActivityKind;
using model::CopyKind;
using model::HostMemory;
using model::TimelineBuilder;
using model::TimeNs;

constexpr const char* kKernels[] = {
    "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_nn",
    "volta_sgemm_128x64_nt",
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "some_unknown_kernel",
};
constexpr const char* kOps[] = {"aten::mm", "aten::add_", "aten::to", "autograd::engine::x"};
constexpr const char* kRegions[] = {"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                                    "validation", "checkpoint", "my forward", "logging"};
constexpr const char* kBookkeeping[] = {"cudaMalloc", "cudaFree", "cudaStreamSynchronize",
                                        "cudaEventQuery", "cudaDeviceSynchronize"};

class Generator {
 public:
  Generator(std::mt19937_64& random, const RandomTimelineOptions& options)
      : random_(random), options_(options) {
    stream_free_.assign(static_cast<std::size_t>(options.devices * options.streams), 0);
  }

  std::vector<Row> run() {
    const TimeNs begin = now_;
    std::vector<TimeNs> marks{begin};
    for (int i = 0; i < options_.launches; ++i) {
      if (options_.steps > 0 && i > 0 && i % std::max(1, options_.launches / options_.steps) == 0) {
        now_ += between(0, 500);
        marks.push_back(now_);
      }
      one_launch();
    }
    marks.push_back(now_ + 100);
    if (options_.steps > 0 && options_.host_events) {
      for (std::size_t i = 0; i + 1 < marks.size(); ++i) {
        annotation(marks[i], marks[i + 1] - between(0, 1), "ProfilerStep#" + std::to_string(i + 3));
      }
    }
    std::shuffle(rows_.begin(), rows_.end(), random_);
    return std::move(rows_);
  }

 private:
  TimeNs between(TimeNs low, TimeNs high) {
    return std::uniform_int_distribution<TimeNs>(low, high)(random_);
  }
  bool chance(int percent) { return between(0, 99) < percent; }

  void annotation(TimeNs start, TimeNs end, std::string name) {
    rows_.push_back([start, end, name](TimelineBuilder& b) {
      b.add_annotation(start, end, b.timeline().names.intern(name), b.thread(1, "1"));
    });
  }

  void host_call(TimeNs start, TimeNs end, std::string name, std::string tid,
                 std::uint64_t correlation) {
    if (!options_.host_events) return;
    rows_.push_back([=](TimelineBuilder& b) {
      b.add_api_call(start, end, b.timeline().names.intern(name), b.thread(1, tid), correlation);
    });
  }

  void one_launch() {
    const std::string tid = chance(30) ? "2" : "1";
    now_ += between(0, 3000);
    if (chance(15) && options_.host_events) {
      const TimeNs end = now_ + between(1, 4000);
      annotation(now_, end, kRegions[between(0, 4)]);
      if (chance(50))
        annotation(now_ + (end - now_) / 4, end - (end - now_) / 4, kRegions[between(0, 4)]);
      now_ = end;
    }
    if (chance(15)) {
      const TimeNs end = now_ + between(1, 3000);
      host_call(now_, end, kBookkeeping[between(0, 4)], tid, 0);
      now_ = end;
    }
    const TimeNs op_start = now_;
    now_ += between(0, 300);
    const TimeNs launch_start = now_;
    now_ += between(1, 200);
    const TimeNs launch_end = now_;
    now_ += between(0, 300);
    if (options_.host_events) {
      const TimeNs op_end = now_;
      const std::string op = kOps[between(0, 3)];
      rows_.push_back([=](TimelineBuilder& b) {
        b.add_host_op(op_start, op_end, b.timeline().names.intern(op), b.thread(1, tid));
      });
    }
    activity(launch_start, launch_end, tid);
  }

  void activity(TimeNs launch_start, TimeNs launch_end, const std::string& tid) {
    const std::uint64_t correlation = ++correlation_;
    const bool lost = options_.messy && chance(5);
    const bool copy = chance(15);
    if (!lost) {
      host_call(launch_start, launch_end, copy ? "cudaMemcpyAsync" : "cudaLaunchKernel", tid,
                correlation);
    }
    const auto device = static_cast<std::int32_t>(between(0, options_.devices - 1));
    const auto stream = static_cast<std::int32_t>(between(0, options_.streams - 1));
    TimeNs& free = stream_free_[static_cast<std::size_t>(device * options_.streams + stream)];
    TimeNs start = std::max(free, launch_start + between(1, 2000));
    if (options_.messy && chance(10)) start = launch_start;  // overlaps what runs on the stream
    const TimeNs end = start + ((options_.messy && chance(8)) ? 0 : between(1, 6000));
    free = std::max(free, end);
    const std::string name = copy ? "Memcpy HtoD (Pageable -> Device)" : kKernels[between(0, 4)];
    rows_.push_back([=](TimelineBuilder& b) {
      b.add_activity(copy ? ActivityKind::kCopy : ActivityKind::kKernel, start, end,
                     b.timeline().names.intern(name), b.device(device), stream, correlation,
                     copy ? CopyKind::kH2D : CopyKind::kNotCopy,
                     copy ? HostMemory::kPageable : HostMemory::kUnknown);
    });
  }

  std::mt19937_64& random_;
  const RandomTimelineOptions& options_;
  std::vector<Row> rows_;
  std::vector<TimeNs> stream_free_;
  TimeNs now_ = 1'000'000'000'000'000;
  std::uint64_t correlation_ = 100;
};

}  // namespace

std::vector<Row> random_rows(std::mt19937_64& random, const RandomTimelineOptions& options) {
  return Generator(random, options).run();
}

model::RankTimeline build(const std::vector<Row>& rows) {
  TimelineBuilder builder;
  for (const Row& row : rows) row(builder);
  return builder.finish();
}

}  // namespace pyrometer::testing

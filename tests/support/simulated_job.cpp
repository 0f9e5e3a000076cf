#include "tests/support/simulated_job.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pyrometer::testing {
namespace {

using model::ActivityKind;
using model::DurationNs;
using model::Index;
using model::kNone;
using model::TimelineBuilder;
using model::TimeNs;

constexpr std::int32_t kComputeStream = 7;
constexpr std::int32_t kCommStream = 17;
constexpr DurationNs kTransfer = 300'000;

class Simulation {
 public:
  Simulation(std::mt19937_64& random, const std::vector<SimulatedRank>& ranks,
             const SimulatedJobOptions& options)
      : random_(random), ranks_(ranks), options_(options), state_(ranks.size()) {
    job_.rows.resize(ranks.size());
    job_.arrivals.resize(ranks.size());
    job_.seen.resize(ranks.size());
    passes_that_reduce_ = options.no_sync ? 1 : options.backward_passes;
    total_ = options.steps * options.collectives * passes_that_reduce_;
  }

  SimulatedJob run() {
    for (int step = 0; step < options_.steps; ++step) {
      std::vector<TimeNs> begin;
      for (State& s : state_) begin.push_back(s.host);
      for (std::size_t r = 0; r < ranks_.size(); ++r) state_[r].host += ranks_[r].host_delay;
      for (int pass = 0; pass < options_.backward_passes; ++pass) {
        const bool reduce = pass >= options_.backward_passes - passes_that_reduce_;
        backward(reduce);
      }
      finish_step(step, begin);
    }
    return std::move(job_);
  }

 private:
  struct State {
    TimeNs host = 1'700'000'000'000'000'000;
    TimeNs compute_free = 0;
    TimeNs comm_free = 0;
    std::uint64_t correlation = 0;
  };

  DurationNs between(DurationNs low, DurationNs high) {
    return std::uniform_int_distribution<DurationNs>(low, high)(random_);
  }

  [[nodiscard]] TimeNs own(std::size_t r, TimeNs time) const {
    constexpr TimeNs kEpoch = 1'700'000'000'000'000'000;
    return time + ranks_[r].clock +
           static_cast<TimeNs>(ranks_[r].drift * static_cast<double>(time - kEpoch));
  }

  void backward(bool reduce) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      annotate(r, "DistributedDataParallel.forward", state_[r].host, state_[r].host + 50'000);
      state_[r].host += 60'000;
    }
    for (int i = 0; i < options_.collectives; ++i) {
      // The same on every rank, as the sizes of a model's buckets are.
      const auto elements = 1'000'000 + 4096 * ((i * 7) % 5);
      const auto length = options_.kernel_time + between(0, options_.kernel_time / 4);
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        kernel(r, static_cast<DurationNs>(static_cast<double>(length) * ranks_[r].compute_scale));
      }
      if (reduce) collective(elements);
    }
  }

  void kernel(std::size_t r, DurationNs length) {
    State& s = state_[r];
    const TimeNs launch = s.host;
    s.host += between(8'000, 20'000);
    const TimeNs start = std::max(s.compute_free, launch + 5'000);
    s.compute_free = start + length;
    add(r, "ampere_bf16_s16816gemm_bf16_128x128_nn", kComputeStream, launch, start, start + length,
        kNone, 0);
  }

  void collective(std::int64_t elements) {
    TimeNs last = 0;
    std::vector<std::pair<TimeNs, TimeNs>> launch_and_start;
    for (State& s : state_) {
      const TimeNs launch = s.host;
      s.host += between(8'000, 20'000);
      const TimeNs start = std::max({s.comm_free, s.compute_free, launch + 5'000});
      launch_and_start.emplace_back(launch, start);
      last = std::max(last, start);
    }
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const auto [launch, start] = launch_and_start[r];
      const TimeNs end = last + kTransfer + between(0, options_.end_jitter);
      state_[r].comm_free = end;
      const bool in_trace = number_ >= ranks_[r].head && number_ < total_ - ranks_[r].tail &&
                            between(0, 99) >= ranks_[r].holes_pct;
      job_.arrivals[r].push_back(start);
      job_.seen[r].push_back(in_trace);
      if (!in_trace) continue;
      add(r, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
          kCommStream, launch, start, end, static_cast<Index>(number_), elements);
    }
    ++number_;
  }

  // `comm`: number of the collective, kNone for compute kernels.
  void add(std::size_t r, std::string name, std::int32_t stream, TimeNs launch, TimeNs start,
           TimeNs end, Index comm, std::int64_t elements) {
    const std::uint64_t correlation = ++state_[r].correlation;
    const TimeNs launch_own = own(r, launch);
    const TimeNs start_own = own(r, start);
    const TimeNs end_own = own(r, end);
    const CommDetails details = options_.details;
    const auto size = static_cast<std::int32_t>(ranks_.size());
    job_.rows[r].push_back([=](TimelineBuilder& b) {
      model::RankTimeline& t = b.timeline();
      b.add_api_call(launch_own, launch_own + 4'000, t.names.intern("cudaLaunchKernel"),
                     b.thread(1, "1"), correlation);
      Index row = kNone;
      if (comm != kNone && details != CommDetails::kNone) {
        model::CommDetail detail;
        detail.collective = t.names.intern("allreduce");
        detail.process_group = t.names.intern("0");
        detail.group_ranks = t.names.intern("[all]");
        detail.dtype = t.names.intern("Float");
        detail.in_elements = detail.out_elements = elements;
        detail.group_size = size;
        if (details == CommDetails::kNumbers) detail.sequence = comm;
        row = static_cast<Index>(t.comm_details.size());
        t.comm_details.push_back(detail);
      }
      b.add_activity(ActivityKind::kKernel, start_own, end_own, t.names.intern(name), b.device(0),
                     stream, correlation, model::CopyKind::kNotCopy, model::HostMemory::kUnknown,
                     kNone, row);
    });
  }

  void annotate(std::size_t r, std::string name, TimeNs start, TimeNs end) {
    const TimeNs from = own(r, start);
    const TimeNs to = own(r, end);
    job_.rows[r].push_back([=](TimelineBuilder& b) {
      b.add_annotation(from, to, b.timeline().names.intern(name), b.thread(1, "1"));
    });
  }

  void finish_step(int step, const std::vector<TimeNs>& begin) {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      State& s = state_[r];
      annotate(r, "Optimizer.step#AdamW.step", s.host, s.host + 30'000);
      s.compute_free = std::max(s.compute_free, s.comm_free);
      kernel(r, 400'000);
      s.host = std::max(s.host, s.compute_free) + 20'000;  // reads the loss
      if (options_.markers) {
        annotate(r, "ProfilerStep#" + std::to_string(step + 10), begin[r], s.host - 1'000);
      }
    }
  }

  std::mt19937_64& random_;
  const std::vector<SimulatedRank>& ranks_;
  const SimulatedJobOptions& options_;
  std::vector<State> state_;
  SimulatedJob job_;
  int passes_that_reduce_ = 1;
  int total_ = 0;
  int number_ = 0;
};

}  // namespace

SimulatedJob simulate_job(std::mt19937_64& random, const std::vector<SimulatedRank>& ranks,
                          const SimulatedJobOptions& options) {
  return Simulation(random, ranks, options).run();
}

model::Timeline build_job(const SimulatedJob& job, const std::vector<SimulatedRank>& ranks) {
  model::Timeline timeline;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    timeline.ranks.push_back(build(job.rows[r]));
    timeline.ranks.back().info.rank = ranks[r].rank;
    timeline.ranks.back().info.world_size = static_cast<std::int32_t>(ranks.size());
  }
  return timeline;
}

}  // namespace pyrometer::testing

#include "analysis/kernel_facts.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "analysis/kernels.h"
#include "analysis/window.h"

namespace pyrometer::analysis {
namespace {

using model::DurationNs;
using model::FactId;
using model::Index;
using model::KernelClass;
using model::kNone;
using model::MathType;
using model::MatrixUnits;

constexpr std::size_t kClasses = static_cast<std::size_t>(KernelClass::kComm) + 1;
constexpr std::size_t kMathTypes = static_cast<std::size_t>(MathType::kInt8) + 1;
constexpr const char* kNoKernels = "no kernels in the window";
constexpr const char* kNoMatrixKernels = "no GEMM, convolution or attention kernel in the window";

// Long and thin: worth a look. Tensor-core kernels are left out, they are fast at low occupancy.
constexpr DurationNs kLongKernelNs = 50'000;
constexpr float kLowOccupancyPct = 25.0F;

// Sums over the kernels of all devices. Times are clipped to the window, counts are of kernels that
// start in it.
struct Sums {
  std::array<DurationNs, kClasses> by_class{};
  std::array<DurationNs, kMathTypes> by_math{};  // GEMM, convolution, attention
  std::array<DurationNs, 3> by_units{};          // same, by MatrixUnits
  DurationNs cast = 0;
  DurationNs low_occupancy = 0;
  DurationNs occupancy_known = 0;
  double occupancy_weighted = 0;
  DurationNs grid_known = 0;
  DurationNs small_grid = 0;
  DurationNs full_time = 0;  // of kernels that start in the window, not clipped
  DurationNs short_time = 0;
  std::int64_t count = 0;
  std::int64_t short_count = 0;
  // Launched within the steps:
  std::int64_t stepped = 0;
  std::int64_t stepped_layout = 0;
  std::int64_t stepped_casts = 0;

  [[nodiscard]] DurationNs time(KernelClass klass) const {
    return by_class[static_cast<std::size_t>(klass)];
  }
  [[nodiscard]] DurationNs matrix() const {
    return time(KernelClass::kGemm) + time(KernelClass::kConv) + time(KernelClass::kAttention);
  }
  [[nodiscard]] DurationNs compute() const {
    DurationNs sum = 0;
    for (const DurationNs t : by_class) sum += t;
    return sum - time(KernelClass::kComm);
  }
};

class Adder {
 public:
  Adder(const model::RankTimeline& t, const model::RankAnalysis& a)
      : t_(t), a_(a), window_(a.steps.window) {}

  [[nodiscard]] Sums run() {
    for (const model::Device& device : t_.devices) {
      for (Index i = device.activities.begin; i < device.activities.end; ++i) {
        if (t_.activities.kind[i] == model::ActivityKind::kKernel) add(i, device);
      }
    }
    return sums_;
  }

 private:
  void add(Index i, const model::Device& device) {
    const model::KernelTraits& traits = a_.kernel_traits[t_.activities.name[i]];
    const model::TimeNs start = t_.activities.start[i];
    const DurationNs time = clipped(start, t_.activities.end[i], window_);
    sums_.by_class[static_cast<std::size_t>(traits.klass)] += time;
    if (model::is_matrix_class(traits.klass)) {
      sums_.by_math[static_cast<std::size_t>(traits.math)] += time;
      sums_.by_units[static_cast<std::size_t>(traits.matrix_units)] += time;
    }
    if (traits.cast) sums_.cast += time;
    if (traits.klass != KernelClass::kComm) add_configuration(i, traits, device, time);
    if (contains(window_, start)) count(i, traits);
  }

  void count(Index i, const model::KernelTraits& traits) {
    const DurationNs duration = t_.activities.duration(i);
    ++sums_.count;
    sums_.full_time += duration;
    if (duration < kShortKernelNs) {
      ++sums_.short_count;
      sums_.short_time += duration;
    }
    if (step_of_activity(t_, a_.steps, i) >= a_.steps.steps.size()) return;
    ++sums_.stepped;
    if (traits.klass == KernelClass::kLayout) ++sums_.stepped_layout;
    if (traits.cast) ++sums_.stepped_casts;
  }

  void add_configuration(Index i, const model::KernelTraits& traits, const model::Device& device,
                         DurationNs time) {
    const Index detail = t_.activities.detail[i];
    if (detail == kNone) return;
    const model::KernelConfig& config = t_.kernel_configs[detail];
    if (config.occupancy_pct >= 0) {
      sums_.occupancy_known += time;
      sums_.occupancy_weighted +=
          static_cast<double>(config.occupancy_pct) * static_cast<double>(time);
      if (config.occupancy_pct < kLowOccupancyPct && !model::is_matrix_class(traits.klass) &&
          t_.activities.duration(i) >= kLongKernelNs) {
        sums_.low_occupancy += time;
      }
    }
    if (config.grid[0] == 0 || device.multiprocessors <= 0) return;
    const std::uint64_t blocks = std::uint64_t{config.grid[0]} * config.grid[1] * config.grid[2];
    sums_.grid_known += time;
    if (blocks < static_cast<std::uint64_t>(device.multiprocessors)) sums_.small_grid += time;
  }

  const model::RankTimeline& t_;
  const model::RankAnalysis& a_;
  model::Interval window_;
  Sums sums_;
};

void set_class_shares(const Sums& sums, FactWriter& facts) {
  constexpr std::pair<FactId, KernelClass> kShares[] = {
      {FactId::kKernelsGemmShare, KernelClass::kGemm},
      {FactId::kKernelsConvShare, KernelClass::kConv},
      {FactId::kKernelsAttentionShare, KernelClass::kAttention},
      {FactId::kKernelsElementwiseShare, KernelClass::kElementwise},
      {FactId::kKernelsReductionShare, KernelClass::kReduction},
      {FactId::kKernelsNormShare, KernelClass::kNorm},
      {FactId::kKernelsOptimizerShare, KernelClass::kOptimizer},
      {FactId::kKernelsIndexingShare, KernelClass::kIndexing},
      {FactId::kKernelsCopyShare, KernelClass::kCopyKernel},
      {FactId::kKernelsLayoutShare, KernelClass::kLayout},
      {FactId::kKernelsRandomShare, KernelClass::kRandom},
      {FactId::kKernelsCommShare, KernelClass::kComm},
      {FactId::kKernelsOtherShare, KernelClass::kOther},
  };
  for (const auto& [id, klass] : kShares) facts.device_share(id, sums.time(klass));
  facts.device_share(FactId::kKernelsCastShare, sums.cast);
  facts.device_share(FactId::kKernelsMatrixClassShare, sums.matrix());
  facts.device_share(FactId::kKernelsSimtShare,
                     sums.by_units[static_cast<std::size_t>(MatrixUnits::kNo)]);
  facts.device_share(FactId::kKernelsLowOccupancyShare, sums.low_occupancy);
}

void set_math_shares(const Sums& sums, FactWriter& facts) {
  const auto time = [&](MathType m) {
    return static_cast<double>(sums.by_math[static_cast<std::size_t>(m)]);
  };
  const auto share = [&](FactId id, double part) {
    facts.ratio(id, part, static_cast<double>(sums.matrix()), kNoMatrixKernels);
  };
  share(FactId::kKernelsFp64MathShare, time(MathType::kFp64));
  share(FactId::kKernelsFp32MathShare, time(MathType::kFp32));
  share(FactId::kKernelsTf32MathShare, time(MathType::kTf32));
  share(FactId::kKernelsHalfMathShare, time(MathType::kFp16) + time(MathType::kBf16) +
                                           time(MathType::kHalf) + time(MathType::kFp8) +
                                           time(MathType::kFp4) + time(MathType::kInt8));
  share(FactId::kKernelsUnknownMathShare, time(MathType::kUnknown));
  const auto units = [&](MatrixUnits u) {
    return static_cast<double>(sums.by_units[static_cast<std::size_t>(u)]);
  };
  facts.ratio(FactId::kKernelsMatrixShare, units(MatrixUnits::kYes),
              units(MatrixUnits::kYes) + units(MatrixUnits::kNo), kNoMatrixKernels);
}

void set_compute_shares(const Sums& sums, FactWriter& facts) {
  const auto compute = static_cast<double>(sums.compute());
  facts.ratio(FactId::kKernelsMatrixClassOfCompute, static_cast<double>(sums.matrix()), compute,
              kNoKernels);
  facts.ratio(FactId::kKernelsMemoryBoundOfCompute,
              compute - static_cast<double>(sums.matrix() + sums.time(KernelClass::kOther)),
              compute, kNoKernels);
  facts.ratio(FactId::kKernelsOccupancyMean, sums.occupancy_weighted,
              static_cast<double>(sums.occupancy_known), "no occupancy was recorded");
  if (sums.occupancy_known == 0) {
    facts.missing(FactId::kKernelsLowOccupancyShare, "no occupancy was recorded");
  }
  facts.ratio(FactId::kKernelsSmallGridShare, static_cast<double>(sums.small_grid),
              static_cast<double>(sums.grid_known),
              "no grid sizes were recorded, or not the device's number of multiprocessors");
}

void set_counts(const Sums& sums, const model::KernelTable& table, FactWriter& facts) {
  const auto count = static_cast<double>(sums.count);
  facts.set(FactId::kKernelsCount, count);
  facts.set(FactId::kKernelsTotalNs, static_cast<double>(sums.full_time));
  facts.set(FactId::kKernelsMeanNs, static_cast<double>(table.all.mean));
  facts.set(FactId::kKernelsMedianNs, static_cast<double>(table.all.p50));
  facts.ratio(FactId::kKernelsShortShare, static_cast<double>(sums.short_count), count, kNoKernels);
  facts.ratio(FactId::kKernelsShortTimeShare, static_cast<double>(sums.short_time),
              static_cast<double>(sums.full_time), "the kernels have no duration");
  facts.per_step(FactId::kKernelsPerStep, static_cast<double>(sums.stepped));
  facts.per_step(FactId::kKernelsLayoutPerStep, static_cast<double>(sums.stepped_layout));
  facts.per_step(FactId::kKernelsCastsPerStep, static_cast<double>(sums.stepped_casts));
}

// Of the first device that worked; a rank's devices are alike.
void set_device_facts(const model::RankTimeline& t, FactWriter& facts) {
  const auto device = std::find_if(t.devices.begin(), t.devices.end(), [](const model::Device& d) {
    return d.activities.size() > 0 && d.compute_major > 0;
  });
  // AMD numbers its architectures otherwise (gfx90a says 9.0 as well).
  if (t.info.is_rocm || device == t.devices.end()) {
    facts.missing({FactId::kKernelsDeviceMatrixUnits, FactId::kKernelsDeviceTf32},
                  t.info.is_rocm ? "not an NVIDIA device"
                                 : "the device's compute capability was not recorded");
    return;
  }
  // The GTX 16 series is Turing (7.5) without tensor cores.
  const bool without = device->name.find("GTX 16") != std::string::npos;
  facts.set(FactId::kKernelsDeviceMatrixUnits, device->compute_major >= 7 && !without ? 1 : 0);
  facts.set(FactId::kKernelsDeviceTf32, device->compute_major >= 8 ? 1 : 0);
}

}  // namespace

void set_kernel_facts(const model::RankTimeline& t, model::RankAnalysis& a) {
  FactWriter facts(t, a.steps, a.facts);
  const Sums sums = Adder(t, a).run();
  if (sums.count == 0) {
    facts.all_missing("kernels", kNoKernels);
    facts.set(FactId::kKernelsCount, 0);
  } else {
    set_counts(sums, a.kernels, facts);
    set_class_shares(sums, facts);
    set_math_shares(sums, facts);
    set_compute_shares(sums, facts);
  }
  set_device_facts(t, facts);
}

}  // namespace pyrometer::analysis

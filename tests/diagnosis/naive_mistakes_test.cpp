// Where the naive diagnosis is wrong: public reports in which the usual reading of the symptoms, or
// the usual advice, led astray. Each has a test, here or where it belongs:
//
// high utilization, no progress (ranks that spin)          Run.HighUtilizationWithoutProgress
// low utilization that is not data                         NaiveMistakes.IdleThatIsNotData
// CPU and GPU both idle can still be data Input.SlowStorageWhereWorkersWaitForReads utilization
// falls or rises and says nothing of speed     NaiveMistakes.UtilizationIsNotSpeed,
//                                                          Comparison.OtherBatchesAreComparedBySample
// removing 276 of 348 syncs gave 1.18×                     NaiveMistakes.SyncsOfADrainedQueueAlone
// graph capture: 5× at batch 8, 1.01× at batch 96          NaiveMistakes.GraphsAreForStarvedDevices
// pinning that hurts NaiveMistakes.PinningIsNoAdviceForHiddenCopies OMP=1, fewer threads that do
// not help                    Oversubscribed.ManyThreadsThatSleepAreNone,
//                                                          …IsInformationWhereTheDeviceNeverWaits
// gc.disable that does not help                            NaiveMistakes.ShortCollectionsAreNoCause
// AMP on tiny nets, AMP behind a slow loader NaiveMistakes.AmpIsNoAdviceBehindASlowLoader NUMA
// binding that does not help                          Affinity.ToOneNumaNodeIsNone P2P that hurts:
// a variable that is set proves nothing    NaiveMistakes.TransportOffIsNoCauseByItself
// cudnn.benchmark, fixed and varying shapes NaiveMistakes.CudnnBenchmarkNeedsFixedShapes cpu_count
// says 12, cpu.max allows 4                      CpuQuota.IsTheCauseWhereItHoldsTheTrainingBack
// config says 8 workers, the process has none              Input.CountsWorkersThatLive
// headline 4× of a thread fix was 9% measured Oversubscribed.WhenTheTrainingThreadWaits… zeros run
// faster than data under a power cap             Clocks.ThePowerCapOfAFullyUsedGpuIsNoCause a link
// at Gen1 is a fault                                Link.RestingAtGenerationOneIsNormal
// find_unused_parameters is expensive NaiveMistakes.FindUnusedCostsLaunchesOnly
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/run_script.h"

namespace pyrometer {
namespace {

using model::Severity;
using testing::causes_of;
using testing::find;
using testing::RunScript;
using testing::RunShape;

RunScript run(const RunShape& shape = {}) {
  RunScript script(shape);
  script.machine(16, 2).waits_for_cpu(0.002);
  return script;
}

// The cause above information that stands first; "" for none.
std::string first_of(const model::Diagnosis& diagnosis) {
  const std::string all = causes_of(diagnosis);
  return all.substr(0, all.find(' '));
}

TEST(NaiveMistakes, IdleThatIsNotData) {
  for (const bool gpu : {true, false}) {
    const auto of = [&](const char* region) {
      return first_of(run({.gpu = gpu, .pause = region, .paused = 0.5}).diagnose());
    };
    EXPECT_EQ(of("checkpoint: torch.save"), "pauses.checkpoint");
    EXPECT_EQ(of("validation"), "pauses.validation");
    EXPECT_EQ(of("_compile.compile_inner"), "pauses.compile");
    EXPECT_EQ(of("gc.collect"), "pauses.gc");
    EXPECT_EQ(of("logging"), "pauses.logging");
  }
  RunScript anomaly = run({.kernels = 0.3});
  anomaly.info("autograd.anomaly", "True");
  EXPECT_EQ(first_of(anomaly.diagnose()), "debug.anomaly_mode");
}

// The same waits, with the device almost always and hardly ever busy in the rest: what is judged is
// what the step would gain.
TEST(NaiveMistakes, UtilizationIsNotSpeed) {
  const model::Diagnosis busy = run({.kernels = 0.95}).diagnose();
  EXPECT_EQ(causes_of(busy), "");
  const model::Diagnosis waits = run({.input = 0.5, .workers = false, .kernels = 0.95}).diagnose();
  const model::Finding* finding = find(waits, "input.serial_loader");
  ASSERT_NE(finding, nullptr);
  ASSERT_TRUE(finding->prediction);
  EXPECT_NEAR(finding->prediction->mid_ns / finding->prediction->baseline_ns, 0.5, 0.05);
}

// One wait at the end of each step, for kernels that keep the device busy, costs nothing.
TEST(NaiveMistakes, SyncsOfADrainedQueueAlone) {
  const model::Diagnosis diagnosis = run({.kernels = 0.98}).diagnose();
  const model::Finding* finding = find(diagnosis, "sync.blocking_calls");
  EXPECT_TRUE(finding == nullptr || finding->severity == Severity::kInfo);
}

TEST(NaiveMistakes, GraphsAreForStarvedDevices) {
  const model::Diagnosis diagnosis = run({.kernels = 0.98}).diagnose();
  for (const char* id : {"launch.bound", "launch.tiny_kernels"}) {
    const model::Finding* finding = find(diagnosis, id);
    EXPECT_TRUE(finding == nullptr || finding->severity == Severity::kInfo) << id;
  }
}

TEST(NaiveMistakes, PinningIsNoAdviceForHiddenCopies) {
  RunScript script = run({.input = 0.5});
  script.info("loader.0.pin_memory", "False").loader_workers(2, 0.98, 0.01);
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(find(diagnosis, "transfer.pageable_h2d"), nullptr);
  EXPECT_EQ(causes_of(diagnosis), "input.too_few_workers");
}

TEST(NaiveMistakes, ShortCollectionsAreNoCause) {
  const model::Diagnosis diagnosis = run({.pause = "gc.collect", .paused = 0.02}).diagnose();
  EXPECT_EQ(find(diagnosis, "pauses.gc"), nullptr);
}

// FP32 kernels, and a loader that takes nine tenths of the step.
TEST(NaiveMistakes, AmpIsNoAdviceBehindASlowLoader) {
  const model::Diagnosis diagnosis =
      run({.input = 0.9, .workers = false, .kernel = "ampere_sgemm_128x128_nn"}).diagnose();
  EXPECT_EQ(first_of(diagnosis), "input.serial_loader");
  const model::Finding* amp = find(diagnosis, "precision.no_amp");
  EXPECT_TRUE(amp == nullptr || amp->severity == Severity::kInfo);
}

TEST(NaiveMistakes, TransportOffIsNoCauseByItself) {
  RunScript script = run();
  script.info("env.NCCL_P2P_DISABLE", "1");
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(find(diagnosis, "comm.slow_transport"), nullptr);
}

TEST(NaiveMistakes, CudnnBenchmarkNeedsFixedShapes) {
  for (const char* benchmark : {"True", "False"}) {
    RunScript script = run();  // no convolution at all
    script.info("cudnn.benchmark", benchmark);
    EXPECT_EQ(find(script.diagnose(), "layout.cudnn_benchmark"), nullptr) << benchmark;
  }
}

TEST(NaiveMistakes, FindUnusedCostsLaunchesOnly) {
  const auto severity = [](double kernels) {
    RunScript script = run({.kernels = kernels});
    script.info("model.0.parallel", "DistributedDataParallel 2");
    script.info("model.0.ddp.find_unused_parameters", "True");
    const model::Diagnosis diagnosis = script.diagnose();
    const model::Finding* finding = find(diagnosis, "ddp.find_unused_parameters");
    return finding == nullptr ? Severity::kInfo : finding->severity;
  };
  EXPECT_EQ(severity(0.98), Severity::kInfo);
}

constexpr const char* kReduce =
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

// Communication alone on the device, most of the time.
RunScript reducing(double kernels = 0.9) { return run({.kernels = kernels, .kernel = kReduce}); }

TEST(Ddp, BucketsMatterWhereCommunicationIsExposed) {
  const auto has = [](RunScript script, const char* size) {
    script.info("model.0.parallel", "DistributedDataParallel 2");
    script.info("model.0.ddp.bucket_cap_mb", size);
    return find(script.diagnose(), "ddp.bucket_size") != nullptr;
  };
  EXPECT_TRUE(has(reducing(), "1"));
  EXPECT_TRUE(has(reducing(), "1000"));
  EXPECT_FALSE(has(reducing(), "25"));
  EXPECT_FALSE(has(run(), "1"));  // nothing is exposed
}

TEST(Ddp, SearchingTheGraphMattersWhereTheHostIsTheLimit) {
  const auto severity = [](const char* fixed) {
    RunScript script = run({.kernels = 0.9, .own = 0.4});
    script.info("model.0.parallel", "DistributedDataParallel 2");
    script.info("model.0.ddp.find_unused_parameters", "True");
    script.info("model.0.ddp.static_graph", fixed);
    const model::Diagnosis diagnosis = script.diagnose();
    const model::Finding* finding = find(diagnosis, "ddp.find_unused_parameters");
    return finding == nullptr ? Severity::kInfo : finding->severity;
  };
  EXPECT_EQ(severity("False"), Severity::kWarning);
  EXPECT_EQ(severity("True"), Severity::kInfo);  // with a static graph it is done once
}

TEST(Comm, TransportThatIsOffIsACauseWhereItShows) {
  RunScript script = reducing();
  script.info("env.NCCL_P2P_DISABLE", "1");
  const model::Diagnosis diagnosis = script.diagnose();
  const model::Finding* finding = find(diagnosis, "comm.slow_transport");
  ASSERT_NE(finding, nullptr);
  EXPECT_NE(finding->severity, Severity::kInfo);
  EXPECT_THAT(finding->summary, ::testing::HasSubstr("NCCL_P2P_DISABLE=1"));
  EXPECT_EQ(find(reducing().diagnose(), "comm.slow_transport"), nullptr);
}

TEST(Compile, RecompilationsNeedTimeAndNumber) {
  const auto of = [](double recompiles, double paused) {
    RunScript script = run({.pause = "_compile.compile_inner", .paused = paused});
    script.gauge("process", "compile.frames", 3).gauge("process", "compile.recompiles", recompiles);
    return first_of(script.diagnose());
  };
  EXPECT_EQ(of(40, 0.5), "compile.recompilations");
  EXPECT_EQ(of(0, 0.5), "pauses.compile");  // compiled once, and slowly
  EXPECT_EQ(of(40, 0), "");
}

TEST(Compile, GraphBreaksAreANote) {
  RunScript script = run();
  script.gauge("process", "compile.frames", 30).gauge("process", "compile.graph_breaks", 25);
  const model::Diagnosis diagnosis = script.diagnose();
  ASSERT_NE(find(diagnosis, "compile.graph_breaks"), nullptr);
  EXPECT_EQ(causes_of(diagnosis), "");
}

// The batch is there, and taking it takes long: more workers, or faster storage, do not help.
TEST(Fetch, AReadyBatchIsNotTheWorkersFault) {
  RunScript script = run({.input = 0.5, .batch = "batch ready"});
  script.loader_workers(4, 0.1, 0.02);
  EXPECT_EQ(causes_of(script.diagnose()), "input.slow_fetch");
}

// Without a CPU the training thread is slow at everything.
TEST(Fetch, AThreadWithoutCpuIsNoSlowFetch) {
  RunScript script = run({.input = 0.3, .gpu = false, .batch = "batch ready"});
  script.machine(2, 0.6, 1.4).loader_workers(4, 0.1, 0.02).waits_for_cpu(0.6);
  const model::Diagnosis diagnosis = script.diagnose();
  EXPECT_EQ(causes_of(diagnosis), "host.cpu_saturated");
  // It shortens those calls as well.
  EXPECT_LT(find(diagnosis, "host.cpu_saturated")->prediction->mid_ns, 60e6);
}

TEST(PinThread, HoldsUpBatchesThatAreLoaded) {
  RunScript script = run({.input = 0.5, .batch = "batch not pinned"});
  script.loader_workers(4, 0.1, 0.02);
  EXPECT_EQ(causes_of(script.diagnose()), "input.pin_thread");
}

TEST(Workers, ManyOnFewCpusTakeTheTrainingsTurns) {
  RunScript script = run({.input = 0.1, .gpu = false, .batch = "batch ready"});
  script.machine(2, 2).loader_workers(8, 0.2, 0.3).waits_for_cpu(0.45, 0.5);
  EXPECT_EQ(causes_of(script.diagnose()), "input.too_many_workers");
}

TEST(WithoutDevice, OwnCodeIsNamedAndPredicted) {
  const auto with_own = [](double share, const char* innermost) {
    RunScript script = run({.gpu = false, .own = share});
    script.run().host_lines.emplace_back(std::string("stack host train.py:7 main | ") + innermost,
                                         100);
    return script.diagnose();
  };
  const model::Diagnosis diagnosis = with_own(0.6, "train.py:7 main");
  EXPECT_EQ(causes_of(diagnosis), "launch.host_code");
  const model::Finding& finding = *find(diagnosis, "launch.host_code");
  ASSERT_TRUE(finding.prediction);
  EXPECT_NEAR(finding.prediction->mid_ns, 46e6, 2e6);
  // A forward pass outside of any module looks the same: half of backward and update is none.
  EXPECT_EQ(causes_of(with_own(0.3, "train.py:7 main")), "");
  // Losses are computed in PyTorch's own files.
  EXPECT_EQ(causes_of(with_own(0.6, "torch/nn/functional.py:3 mse_loss")), "");
  // Without samples the one cannot be told from the other.
  EXPECT_EQ(causes_of(run({.gpu = false, .own = 0.6}).diagnose()), "");
}

TEST(WithoutDevice, AMachineWithoutGpuIsAFactNotAFault) {
  RunScript script = run({.gpu = false});
  script.info("machine.gpu_missing", "this machine has no NVIDIA GPU");
  const auto severity = [&] { return find(script.diagnose(), "device.no_gpu_work")->severity; };
  EXPECT_EQ(severity(), Severity::kWarning);
  script.info("machine.gpu_none", "1");
  EXPECT_EQ(severity(), Severity::kInfo);
  // What the program did to itself holds on any machine.
  script.info("cuda.hidden", "CUDA_VISIBLE_DEVICES=-1");
  EXPECT_EQ(severity(), Severity::kWarning);
  script.info("machine.cuda_visible_devices", "-1");  // it was started like this
  EXPECT_EQ(severity(), Severity::kInfo);
}

// What is wrong with the program comes before what others do on its machine.
TEST(WithoutDevice, BusyMachinesHideNoCause) {
  RunScript script = run({.input = 0.3, .workers = false, .gpu = false});
  script.machine(16, 1, 15).waits_for_cpu(0.5);
  EXPECT_EQ(causes_of(script.diagnose()), "input.serial_loader host.cpu_saturated");
}

}  // namespace
}  // namespace pyrometer

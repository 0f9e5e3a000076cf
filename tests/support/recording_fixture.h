// A recording of a few steps, in a folder of the test's own.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "recording/writer.h"

namespace pyrometer::recording {

class Recording : public ::testing::Test {
 protected:
  Recording()
      : folder_(std::filesystem::temp_directory_path() /
                ("pyro_test_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~Recording() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const char* name = "run.pyro") const {
    return (folder_ / name).string();
  }

  static std::unique_ptr<Writer> create(const std::string& path) {
    auto writer = Writer::create(path);
    EXPECT_TRUE(writer.has_value()) << (writer ? "" : writer.error().to_string());
    return writer ? std::move(*writer) : nullptr;
  }

  // Steps of 100 ns from `first` on, one kernel of 60 ns in each, launched 20 ns before it runs.
  static DetailRows rows_of(Writer& writer, std::int64_t first, int steps) {
    const NameId kernel = writer.names().intern("ampere_sgemm_128x64_tn");
    const NameId launch = writer.names().intern("cudaLaunchKernel");
    DetailRows rows;
    for (int i = 0; i < steps; ++i) {
      const std::int64_t begin = first + 100 * i;
      const auto id = static_cast<std::uint32_t>(begin);
      rows.activities.push_back({.start = begin + 30,
                                 .end = begin + 90,
                                 .name = kernel,
                                 .config = 1,
                                 .correlation = id,
                                 .stream = 7});
      rows.api_calls.push_back({.start = begin + 10,
                                .end = begin + 15,
                                .name = launch,
                                .thread = 42,
                                .correlation = id});
      rows.ranges.push_back({.start = begin,
                             .end = begin + 100,
                             .a = i,
                             .b = 32,
                             .thread = 42,
                             .type = RangeType::kStep});
    }
    return rows;
  }

  static void fill(Writer& writer) {
    writer.set_meta("start_ns", "500");
    writer.put_process({.id = 1, .pid = 42, .parent_pid = 1, .start = 600, .program = "python"});
    writer.put_device(1, {.ordinal = 0, .name = "NVIDIA H200", .multiprocessors = 132});
    writer.add_config(1, {.grid = {66, 2, 1}, .block = {128, 1, 1}, .registers_per_thread = 40});
    writer.add_info(1, 700, "torch.version", "2.11.0");
    writer.add_info(1, 800, "torch.version", "2.11.1");
    writer.add_window(1, {{1000, 1300}, "regular"}, rows_of(writer, 1000, 3));
    writer.add_window(1, {{5000, 5200}, "regular"}, rows_of(writer, 5000, 2));
    model::RecordedStep step;
    step.span = {1000, 1100};
    step.samples = 32;
    step.captured = true;
    at(step.causes, model::Cause::kComputeMath) = 60;
    at(step.causes, model::Cause::kIdleHost) = 40;
    writer.add_step(1, step);
    step.captured = false;
    step.index = 1;
    step.span = {1100, 1200};
    step.samples = -1;
    writer.add_step(1, step);
    writer.put_host_line(1, writer.names().intern("stack host train.py:9 f | train.py:9 f"), 3);
    writer.put_blocking_line(1, writer.names().intern("item train.py:58"), 4, 400, 150);
    writer.put_blocking_line(1, writer.names().intern("to model/a b.py:7"), 1, 500, 500);
    // None that a recorder writes: longer than the run.
    writer.put_blocking_line(1, writer.names().intern("cpu train.py:60"), 1, 1LL << 60U, 1);
    writer.add_loss(1, 900, "kernel", 17);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace pyrometer::recording

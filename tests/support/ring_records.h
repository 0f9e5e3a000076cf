// Helpers for tests that read rings: a folder for them and a sink that keeps every record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ring/reader.h"

namespace pyrometer::tests {

// A session's folder under /dev/shm, removed with all that is in it.
class RingFolder {
 public:
  RingFolder();
  ~RingFolder();
  RingFolder(const RingFolder&) = delete;
  RingFolder& operator=(const RingFolder&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // Paths of the rings that are ready (hidden files are not), sorted.
  [[nodiscard]] std::vector<std::string> files() const;
  // The reader of the one ring that is there.
  [[nodiscard]] ring::Reader open_only() const;

 private:
  std::string path_;
};

class RecordLog : public ring::RecordSink {
 public:
  void on_string(std::uint32_t id, std::string_view text) override;
  void on_config(const ring::KernelConfigBody& config) override;
  void on_kernel(std::uint32_t thread, const ring::ActivityBody& kernel) override;
  void on_copy(std::uint32_t thread, const ring::ActivityBody& copy) override;
  void on_memset(std::uint32_t thread, const ring::ActivityBody& memset) override;
  void on_api_call(std::uint32_t thread, const ring::ApiCallBody& call) override;
  void on_sync(std::uint32_t thread, const ring::SyncBody& sync) override;
  void on_range(std::uint32_t thread, const ring::RangeBody& range) override;
  void on_counter(std::uint32_t thread, const ring::CounterBody& counter) override;
  void on_info(const ring::InfoBody& info) override;
  void on_capture(const ring::CaptureBody& capture) override;
  void on_loss(const ring::LossBody& loss) override;

  [[nodiscard]] std::string name(std::uint32_t id) const;
  // The last value of a kInfo key; empty where there is none.
  [[nodiscard]] std::string info(const std::string& key) const;

  std::map<std::uint32_t, std::string> names;
  std::vector<ring::KernelConfigBody> configs;
  std::vector<ring::ActivityBody> kernels;
  std::vector<std::uint32_t> threads;  // of kernels
  std::vector<ring::ActivityBody> copies;
  std::vector<ring::ActivityBody> memsets;
  std::vector<ring::ApiCallBody> api_calls;
  std::vector<std::uint32_t> api_threads;  // of api_calls
  std::vector<ring::SyncBody> syncs;
  std::vector<ring::RangeBody> ranges;
  std::vector<ring::CounterBody> counters;
  std::vector<ring::InfoBody> infos;
  std::vector<ring::CaptureBody> captures;
  std::vector<ring::LossBody> losses;
  std::uint64_t undefined_names = 0;  // used before they were defined

 private:
  void use(std::uint32_t name);
};

}  // namespace pyrometer::tests

#include "tests/support/ring_records.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace pyrometer::tests {

RingFolder::RingFolder() : path_("/dev/shm/pyrometer-test-XXXXXX") {
  if (::mkdtemp(path_.data()) == nullptr) {
    throw std::runtime_error("no folder under /dev/shm");
  }
}

RingFolder::~RingFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> RingFolder::files() const {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    const std::string name = entry.path().filename();
    if (name.front() != '.' && name.ends_with(".ring")) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

ring::Reader RingFolder::open_only() const {
  const auto found = files();
  if (found.size() != 1) {
    throw std::runtime_error(std::to_string(found.size()) + " rings instead of one");
  }
  auto reader = ring::Reader::open(found.front());
  if (!reader) {
    throw std::runtime_error(reader.error().to_string());
  }
  return std::move(*reader);
}

void RecordLog::on_string(std::uint32_t id, std::string_view text) { names[id] = text; }

void RecordLog::on_config(const ring::KernelConfigBody& config) { configs.push_back(config); }

void RecordLog::on_kernel(std::uint32_t thread, const ring::ActivityBody& kernel) {
  use(kernel.kernel.name);
  kernels.push_back(kernel);
  threads.push_back(thread);
}

void RecordLog::on_copy(std::uint32_t /*thread*/, const ring::ActivityBody& copy) {
  copies.push_back(copy);
}

void RecordLog::on_memset(std::uint32_t /*thread*/, const ring::ActivityBody& memset) {
  memsets.push_back(memset);
}

void RecordLog::on_api_call(std::uint32_t thread, const ring::ApiCallBody& call) {
  use(call.name);
  api_calls.push_back(call);
  api_threads.push_back(thread);
}

void RecordLog::on_sync(std::uint32_t /*thread*/, const ring::SyncBody& sync) {
  use(sync.name);
  syncs.push_back(sync);
}

void RecordLog::on_range(std::uint32_t /*thread*/, const ring::RangeBody& range) {
  use(range.name);
  ranges.push_back(range);
}

void RecordLog::on_counter(std::uint32_t /*thread*/, const ring::CounterBody& counter) {
  use(counter.name);
  counters.push_back(counter);
}

void RecordLog::on_info(const ring::InfoBody& info) {
  use(info.key);
  use(info.value);
  infos.push_back(info);
}

void RecordLog::on_capture(const ring::CaptureBody& capture) { captures.push_back(capture); }

void RecordLog::on_loss(const ring::LossBody& loss) { losses.push_back(loss); }

std::string RecordLog::name(std::uint32_t id) const {
  const auto found = names.find(id);
  return found == names.end() ? "" : found->second;
}

std::string RecordLog::info(const std::string& key) const {
  std::string value;
  for (const ring::InfoBody& info : infos) {
    if (name(info.key) == key) {
      value = name(info.value);
    }
  }
  return value;
}

void RecordLog::use(std::uint32_t name) {
  if (name != 0 && names.count(name) == 0) {
    ++undefined_names;
  }
}

}  // namespace pyrometer::tests

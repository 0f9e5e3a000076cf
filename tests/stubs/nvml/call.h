// How every function of the stub answers: counted, delayed and refused by the world's script.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>

#include "sources/nvml/nvml_abi.h"
#include "tests/stubs/nvml/world.h"

namespace nvml_stub {

namespace nvml = pyrometer::sources::nvml;
using nvml::Handle;
using nvml::Return;

// Handles are numbers: GPU i is i + 1, its MIG instance m is 1000 * (i + 1) + m + 1.
inline Handle handle_of(std::size_t number) { return reinterpret_cast<Handle>(number); }
inline std::size_t number_of(Handle handle) { return reinterpret_cast<std::size_t>(handle); }

// One call of the stub: counts it, lets time pass, hangs if it is told to.
class Call {
 public:
  explicit Call(const char* symbol) : world_(world()), lock_(world_.mutex) {
    ++world_.calls[symbol];
    world_.advance();
    world_.let_go.wait(lock_, [&] { return !world_.hanging.contains(symbol); });
  }
  World* operator->() { return &world_; }

  // kSuccess with the GPU, or why not.
  Return find(Handle handle, Gpu*& gpu, Mig** mig = nullptr) {
    if (!world_.initialized) return nvml::kUninitialized;
    const std::size_t number = number_of(handle);
    const std::size_t index = number >= 1000 ? number / 1000 - 1 : number - 1;
    if (index >= world_.gpus.size()) return nvml::kInvalidArgument;
    gpu = &world_.gpus[index];
    if (gpu->lost) return nvml::kGpuIsLost;
    if (number < 1000) return nvml::kSuccess;
    if (mig == nullptr || number % 1000 > gpu->instances.size()) return nvml::kNotSupported;
    *mig = &gpu->instances[number % 1000 - 1];
    return nvml::kSuccess;
  }

 private:
  World& world_;
  std::unique_lock<std::mutex> lock_;
};

template <typename T>
Return write(const Answer& answer, T* out) {
  switch (answer.kind) {
    case AnswerKind::kError:
      return answer.code;
    case AnswerKind::kUntouched:
      return nvml::kSuccess;
    case AnswerKind::kGarbage:
      if constexpr (std::is_floating_point_v<T>) {
        *out = -7.1e33;
      } else {
        *out = static_cast<T>(0xDEADBEEFCAFEF00D);
      }
      return nvml::kSuccess;
    case AnswerKind::kValue:
      *out = static_cast<T>(answer.value);
      return nvml::kSuccess;
  }
  return nvml::kUnknown;
}

template <typename T>
Return get(const char* symbol, Handle handle, const std::string& key, T* out) {
  Call call(symbol);
  Gpu* gpu = nullptr;
  if (const Return code = call.find(handle, gpu); code != nvml::kSuccess) return code;
  return write(gpu->answers[key], out);
}

}  // namespace nvml_stub

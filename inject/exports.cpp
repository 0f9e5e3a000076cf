// The functions that the library exports: NVIDIA's injection entry point and the hook's ABI.
#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "capture.h"
#include "debug.h"
#include "hook_abi.h"
#include "loaded_libraries.h"
#include "process.h"
#include "ring/layout.h"
#include "stack_sampler.h"
#include "thread_id.h"

namespace {

using pyrometer::inject::Attach;
using pyrometer::inject::capture;
using pyrometer::inject::process;
namespace inject = pyrometer::inject;
namespace ring = pyrometer::ring;

#define PYROMETER_EXPORT extern "C" __attribute__((visibility("default")))

// The program's errno is its own.
class KeepErrno {
 public:
  KeepErrno() : value_(errno) {}
  ~KeepErrno() { errno = value_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int value_;
};

bool is_this_library(void* function) {
  Dl_info theirs{};
  Dl_info ours{};
  return ::dladdr(function, &theirs) != 0 &&
         ::dladdr(reinterpret_cast<void*>(&is_this_library), &ours) != 0 &&
         theirs.dli_fbase == ours.dli_fbase;
}

// The injection that was set before ours, by someone who wants his own tool to work.
int call_chained(const char* path) {
  void* library = ::dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  void* function = library == nullptr ? nullptr : ::dlsym(library, "InitializeInjection");
  inject::debug("chained injection %s: %s", path, function != nullptr ? "called" : "not usable");
  if (function == nullptr || is_this_library(function)) {
    return 1;
  }
  return reinterpret_cast<int (*)()>(function)();
}

void at_exit() {
  const KeepErrno keep;
  if (process().writer() != nullptr) {
    inject::stack_sampler().stop();
    capture().finish(ring::CaptureReason::kProcessEnds);
    process().go_inert(ring::CaptureReason::kProcessEnds);
  }
}

void register_exit_handlers() {
  static std::atomic<bool> registered{false};
  if (!registered.exchange(true)) {
    std::atexit(&at_exit);
    std::at_quick_exit(&at_exit);
  }
}

// Dead reader or not, for processes without GPU capture: there no thread of ours looks.
ring::Writer* active_writer(std::uint64_t now) {
  ring::Writer* writer = process().writer();
  if (writer != nullptr && now != 0 && !capture().watched()) {
    process().glance_at_monitor(*writer, now);
    writer = process().writer();
  }
  return writer;
}

}  // namespace

// NVIDIA's name. NOLINTNEXTLINE(readability-identifier-naming)
PYROMETER_EXPORT int InitializeInjection() {
  const KeepErrno keep;
  static thread_local bool inside = false;  // CUPTI or the chained library may start CUDA again
  if (inside) {
    return 1;
  }
  inside = true;
  int result = 1;
  const Attach attached = process().attach(true);
  const char* chained = ::secure_getenv("PYROMETER_CHAIN_INJECTION");
  const bool is_chained = chained != nullptr && *chained != '\0';
  inject::debug("CUDA comes up; attach: %d", static_cast<int>(attached));
  ring::Writer* writer = process().writer();
  if (attached == Attach::kRecorded && writer != nullptr && !capture().started()) {
    register_exit_handlers();
    if (is_chained) {
      capture().refuse(*writer, ring::CaptureReason::kClientHoldsCupti,
                       "CUDA_INJECTION64_PATH was set already");
    } else {
      capture().start(*writer);
    }
  }
  if (is_chained) {
    static std::atomic<bool> called{false};
    result = called.exchange(true) ? 1 : call_chained(chained);
  }
  inside = false;
  return result;
}

PYROMETER_EXPORT uint32_t pyrometer_hook_abi() { return PYROMETER_HOOK_ABI; }

PYROMETER_EXPORT int pyrometer_hook_attach() {
  const KeepErrno keep;
  const Attach attached = process().attach(false);
  if (attached == Attach::kRecorded) {
    register_exit_handlers();
  }
  return static_cast<int>(attached);
}

PYROMETER_EXPORT int pyrometer_hook_active() { return process().writer() != nullptr ? 1 : 0; }

PYROMETER_EXPORT uint32_t pyrometer_hook_name(const char* text, uint32_t length) {
  ring::Writer* writer = process().writer();
  return writer == nullptr || text == nullptr ? 0 : writer->intern_name({text, length});
}

PYROMETER_EXPORT void pyrometer_hook_range(uint32_t kind, uint32_t flags, uint32_t name,
                                           uint64_t start, uint64_t end, int64_t a, int64_t b) {
  const KeepErrno keep;
  if (ring::Writer* writer = active_writer(end); writer != nullptr) {
    const ring::RangeBody body{.start = start,
                               .end = end,
                               .a = a,
                               .b = b,
                               .name = name,
                               .kind = static_cast<ring::RangeKind>(kind),
                               .flags = static_cast<std::uint16_t>(flags)};
    writer->write(ring::RecordType::kRange, inject::thread_id(), body);
    if (body.kind == ring::RangeKind::kStep) {
      capture().step_boundary();
    }
  }
}

PYROMETER_EXPORT void pyrometer_hook_ranges(const pyrometer_hook_range_record* records,
                                            uint32_t count) {
  const KeepErrno keep;
  if (records == nullptr || count == 0) {
    return;
  }
  ring::Writer* writer = active_writer(records[count - 1].end);
  static_assert(sizeof(pyrometer_hook_range_record) == sizeof(ring::RangeBody));
  for (uint32_t i = 0; writer != nullptr && i < count; ++i) {
    ring::RangeBody body{};
    std::memcpy(&body, &records[i], sizeof body);
    writer->write(ring::RecordType::kRange, inject::thread_id(), body);
    if (body.kind == ring::RangeKind::kStep) {
      capture().step_boundary();
    }
  }
}

PYROMETER_EXPORT void pyrometer_hook_counter(uint32_t name, uint64_t time, double value) {
  const KeepErrno keep;
  if (ring::Writer* writer = active_writer(time); writer != nullptr) {
    writer->write(ring::RecordType::kCounter, inject::thread_id(),
                  ring::CounterBody{.time = time, .value = value, .name = name});
  }
}

PYROMETER_EXPORT void pyrometer_hook_info(uint32_t key, uint32_t value) {
  if (ring::Writer* writer = process().writer(); writer != nullptr) {
    writer->write(ring::RecordType::kInfo, 0,
                  ring::InfoBody{.time = ring::monotonic_ns(), .key = key, .value = value});
  }
}

PYROMETER_EXPORT uint32_t pyrometer_hook_control() {
  const KeepErrno keep;
  ring::Writer* writer = active_writer(ring::monotonic_ns());
  return writer == nullptr ? 0 : writer->header().control.load(std::memory_order_acquire);
}

PYROMETER_EXPORT void pyrometer_hook_yield() {
  const KeepErrno keep;
  if (process().writer() != nullptr) {
    capture().yield();
  }
}

PYROMETER_EXPORT void pyrometer_hook_resume() {
  const KeepErrno keep;
  if (process().writer() != nullptr) {
    capture().resume();
  }
}

PYROMETER_EXPORT uint8_t* pyrometer_hook_phase_byte() { return inject::stack_sampler().phase(); }

PYROMETER_EXPORT const char* pyrometer_hook_sampler_prepare(uint32_t version, const char* folders) {
  const KeepErrno keep;
  if (process().writer() == nullptr) {
    return "not recorded";
  }
  return inject::stack_sampler().prepare(version, folders);
}

PYROMETER_EXPORT uint32_t pyrometer_hook_sampler_look(char* text, uint32_t size) {
  const KeepErrno keep;
  return inject::stack_sampler().look(text, size);
}

PYROMETER_EXPORT int pyrometer_hook_sampler_start() {
  const KeepErrno keep;
  return process().writer() != nullptr && inject::stack_sampler().start() ? 1 : 0;
}

PYROMETER_EXPORT void pyrometer_hook_sampler_stop() {
  const KeepErrno keep;
  inject::stack_sampler().stop();
}

PYROMETER_EXPORT void pyrometer_hook_retire() {
  const KeepErrno keep;
  inject::stack_sampler().stop();
  if (process().writer() != nullptr) {
    capture().finish(ring::CaptureReason::kDisabled);
  }
  process().retire();
}

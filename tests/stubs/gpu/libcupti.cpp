// The fake libcupti: the activity API over the simulated GPU. Buffers are requested where a record
// is made and completed from a thread of its own or in a flush, as CUPTI does it.
#include <dlfcn.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <deque>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "cbids.h"
#include "record_layouts.h"
#include "stub_gpu.h"

#define STUB_EXPORT extern "C" __attribute__((visibility("default")))

#ifndef STUB_CUPTI_VERSION
#error "the version that cuptiGetVersion says by default"
#endif

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidParameter = 1;
constexpr int kMaxLimitReached = 12;
constexpr int kInvalidKind = 21;
constexpr int kMultipleSubscribers = 39;
constexpr int kUnknown = 999;
constexpr bool kOldLayout = STUB_CUPTI_VERSION < 100;

using Requested = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
using Completed = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);

// Functions of the fake libcuda.so.1, which is loaded or we would not be.
template <typename Function>
Function cuda(const char* name) {
  static void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  return reinterpret_cast<Function>(::dlsym(library, name));
}

const char* option(const char* name) {
  static const auto get = cuda<const char* (*)(const char*)>("stub_option");
  return get == nullptr ? nullptr : get(name);
}

std::uint64_t clock_ns(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

struct Buffer {
  std::uint8_t* bytes;
  std::size_t size;
  std::vector<StubActivity> activities;  // what is in it; written out when it is completed
  std::size_t used = 0;

  bool finished(std::uint64_t now) const {
    for (const StubActivity& activity : activities) {
      if (activity.end > now) return false;
    }
    return true;
  }
};

// Which calls of one kind are recorded. As with CUPTI 13.0.1, seen on an H200: the kind overrides
// single calls; once it has been switched off, single calls are accepted and not recorded.
class Calls {
 public:
  void set_kind(bool on) {
    kind_ = on;
    single_.clear();
    excluded_.clear();
    had_kind_ = true;
  }
  void set_call(std::uint32_t cbid, bool on) {
    if (kind_ && on) excluded_.erase(cbid);
    if (kind_ && !on) excluded_.insert(cbid);
    if (!kind_ && !on) single_.erase(cbid);
    if (!kind_ && on && !had_kind_) single_.insert(cbid);
  }
  bool wanted(std::uint32_t cbid) const {
    return kind_ ? excluded_.count(cbid) == 0 : single_.count(cbid) != 0;
  }

 private:
  bool kind_ = false, had_kind_ = false;
  std::set<std::uint32_t> single_, excluded_;
};

class Tracer {
 public:
  int subscribe() {
    const std::lock_guard lock(lock_);
    if (subscribed_ || option("held") != nullptr) return kMultipleSubscribers;
    subscribed_ = true;
    return kSuccess;
  }
  void unsubscribe() { subscribed_ = false; }

  void set_callbacks(Requested requested, Completed completed) {
    const std::lock_guard lock(lock_);
    requested_ = requested;
    completed_ = completed;
    if (!worker_started_) {
      worker_started_ = true;
      std::thread([this] { work(); }).detach();
    }
    cuda<void (*)(StubSink)>("stub_set_sink")([](const StubActivity* a) { tracer().add(*a); });
  }
  void set_kind(std::uint32_t kind, bool on) {
    const std::lock_guard lock(lock_);
    put(&kinds_, kind, on);
    if (kind == 5 || kind == 4) calls(kind == 4).set_kind(on);
  }
  void set_call(bool driver, std::uint32_t cbid, bool on) {
    const std::lock_guard lock(lock_);
    calls(driver).set_call(cbid, on);
  }
  Calls& calls(bool driver) { return driver ? driver_calls_ : runtime_calls_; }
  void set_clock(std::uint64_t (*clock)()) { clock_ = clock; }

  void flush(bool forced) {
    std::deque<Buffer> ready;
    {
      const std::lock_guard lock(lock_);
      take_current();
      take_ready(&ready, forced);
    }
    complete(&ready);
  }

  std::size_t take_dropped() { return dropped_.exchange(0); }

  static Tracer& tracer();

 private:
  static void put(std::set<std::uint32_t>* set, std::uint32_t value, bool on) {
    if (on) {
      set->insert(value);
    } else {
      set->erase(value);
    }
  }

  // Under the lock.
  bool wanted(const StubActivity& a) const {
    switch (a.type) {
      case STUB_KERNEL:
        return kinds_.count(10) != 0;
      case STUB_COPY:
        return kinds_.count(1) != 0;
      case STUB_PEER_COPY:
        return kinds_.count(22) != 0;
      case STUB_MEMSET:
        return kinds_.count(2) != 0;
      case STUB_RUNTIME_CALL:
        return runtime_calls_.wanted(a.cbid);
      case STUB_DRIVER_CALL:
        return driver_calls_.wanted(a.cbid);
    }
    return false;
  }

  void add(const StubActivity& activity) {
    const std::lock_guard lock(lock_);
    if (requested_ == nullptr || !wanted(activity)) return;
    static const auto take_drop = cuda<std::uint32_t (*)()>("stub_take_drop");
    unsigned char scratch[stub::kMostRecordBytes];
    const std::size_t bytes = stub::write_record(activity, kOldLayout, 0, true, scratch);
    if (has_current_ && current_.used + bytes > current_.size) {
      take_current();
      wake_.notify_one();
    }
    if (take_drop() != 0 || (!has_current_ && !request())) {
      ++dropped_;
      return;
    }
    current_.activities.push_back(activity);
    current_.used += bytes;
  }

  bool request() {
    std::uint8_t* bytes = nullptr;
    std::size_t size = 0;
    std::size_t most = 0;
    requested_(&bytes, &size, &most);
    if (bytes == nullptr || size < stub::kMostRecordBytes) return false;
    current_ = Buffer{.bytes = bytes, .size = size};
    has_current_ = true;
    return true;
  }

  void take_current() {
    if (has_current_) {
      waiting_.push_back(std::move(current_));
      has_current_ = false;
    }
  }

  void take_ready(std::deque<Buffer>* ready, bool forced) {
    const std::uint64_t now =
        option("fast") != nullptr ? ~std::uint64_t{0} : clock_ns(CLOCK_MONOTONIC);
    std::deque<Buffer> rest;
    for (Buffer& buffer : waiting_) {
      (forced || buffer.finished(now) ? *ready : rest).push_back(std::move(buffer));
    }
    waiting_ = std::move(rest);
  }

  // From the clock of the simulated GPU to the one that was asked for.
  std::int64_t clock_offset() const {
    std::uint64_t (*clock)() = clock_;
    const std::uint64_t before = clock_ns(CLOCK_MONOTONIC);
    const std::uint64_t theirs = clock == nullptr ? clock_ns(CLOCK_REALTIME) : clock();
    const std::uint64_t after = clock_ns(CLOCK_MONOTONIC);
    return theirs >= before && theirs <= after
               ? 0
               : static_cast<std::int64_t>(theirs - (before + after) / 2);
  }

  void complete(std::deque<Buffer>* ready) {
    const bool fast = option("fast") != nullptr;
    const std::uint64_t now = clock_ns(CLOCK_MONOTONIC);
    const bool bad = option("layout") != nullptr;
    const std::int64_t offset = clock_offset();
    for (Buffer& buffer : *ready) {
      std::size_t valid = 0;
      for (const StubActivity& activity : buffer.activities) {
        unsigned char* at = buffer.bytes + valid;
        const bool finished = fast || activity.end <= now;
        valid += stub::write_record(activity, kOldLayout, offset, finished, at);
        if (bad) std::memset(at + 8, 0x5a, 40);
      }
      completed_.load()(nullptr, 0, buffer.bytes, buffer.size, valid);
    }
  }

  void work() {
    for (;;) {
      std::deque<Buffer> ready;
      {
        std::unique_lock lock(lock_);
        wake_.wait_for(lock, std::chrono::milliseconds(20));
        take_ready(&ready, false);
      }
      complete(&ready);
    }
  }

  std::mutex lock_;
  std::condition_variable wake_;
  std::atomic<bool> subscribed_{false};
  bool worker_started_ = false;
  Requested requested_ = nullptr;
  std::atomic<Completed> completed_{nullptr};
  std::atomic<std::uint64_t (*)()> clock_{nullptr};
  std::set<std::uint32_t> kinds_;
  Calls runtime_calls_, driver_calls_;
  Buffer current_{};
  bool has_current_ = false;
  std::deque<Buffer> waiting_;
  std::atomic<std::size_t> dropped_{0};
};

// Never destroyed: its thread runs until the process ends.
Tracer& Tracer::tracer() {
  static auto* const instance = new Tracer;
  return *instance;
}

int working() { return option("dead") != nullptr ? kUnknown : kSuccess; }

const StubCall* find_call(std::uint32_t domain, std::uint32_t cbid) {
  for (const StubCall& call : kStubCalls) {
    if (call.cbid == cbid && call.driver == (domain == 1)) return &call;
  }
  return nullptr;
}

}  // namespace

STUB_EXPORT int cuptiGetVersion(std::uint32_t* version) {
  const char* wanted = option("version");
  *version = wanted == nullptr ? STUB_CUPTI_VERSION
                               : static_cast<std::uint32_t>(std::strtoul(wanted, nullptr, 10));
  return kSuccess;
}

STUB_EXPORT int cuptiSubscribe(void** subscriber, void*, void*) {
  *subscriber = subscriber;
  return working() != kSuccess ? kUnknown : Tracer::tracer().subscribe();
}

STUB_EXPORT int cuptiUnsubscribe(void*) {
  Tracer::tracer().unsubscribe();
  return kSuccess;
}

STUB_EXPORT int cuptiActivityRegisterCallbacks(Requested requested, Completed completed) {
  if (requested == nullptr || completed == nullptr) return kInvalidParameter;
  Tracer::tracer().set_callbacks(requested, completed);
  return working();
}

STUB_EXPORT int cuptiActivityEnable(std::uint32_t kind) {
  Tracer::tracer().set_kind(kind, true);
  return kSuccess;
}

STUB_EXPORT int cuptiActivityDisable(std::uint32_t kind) {
  Tracer::tracer().set_kind(kind, false);
  return kSuccess;
}

STUB_EXPORT int cuptiActivityEnableRuntimeApi(std::uint32_t cbid, std::uint8_t on) {
  Tracer::tracer().set_call(false, cbid, on != 0);
  return kSuccess;
}

STUB_EXPORT int cuptiActivityEnableDriverApi(std::uint32_t cbid, std::uint8_t on) {
  Tracer::tracer().set_call(true, cbid, on != 0);
  return kSuccess;
}

STUB_EXPORT int cuptiActivityFlushAll(std::uint32_t flags) {
  const bool forced = flags == 1;
  while (forced && option("hang") != nullptr) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
  Tracer::tracer().flush(forced);
  return kSuccess;
}

STUB_EXPORT int cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid,
                                           std::uint8_t** record) {
  std::uint8_t* next = buffer;
  if (*record != nullptr) next = *record + stub::record_size(*record, kOldLayout);
  if (next >= buffer + valid) return kMaxLimitReached;
  *record = next;
  return stub::record_size(next, kOldLayout) == 0 ? kInvalidKind : kSuccess;
}

STUB_EXPORT int cuptiActivityGetNumDroppedRecords(void*, std::uint32_t, std::size_t* dropped) {
  *dropped = Tracer::tracer().take_dropped();
  return kSuccess;
}

STUB_EXPORT int cuptiActivitySetAttribute(std::uint32_t, std::size_t*, void*) { return kSuccess; }

STUB_EXPORT int cuptiGetTimestamp(std::uint64_t* timestamp) {
  *timestamp = clock_ns(CLOCK_REALTIME);
  return kSuccess;
}

STUB_EXPORT int cuptiActivityRegisterTimestampCallback(std::uint64_t (*clock)()) {
  if (option("no_clock") != nullptr) return kUnknown;
  Tracer::tracer().set_clock(clock);
  return kSuccess;
}

STUB_EXPORT int cuptiGetCallbackName(std::uint32_t domain, std::uint32_t cbid, const char** name) {
  if (cbid == 0 || cbid > 520) return kInvalidParameter;
  const StubCall* call = find_call(domain, cbid);
  *name = call == nullptr ? "other_v1" : call->cupti_name;
  return kSuccess;
}

STUB_EXPORT int cuptiSetThreadIdType(std::uint32_t) { return kSuccess; }

STUB_EXPORT int cuptiGetThreadIdType(std::uint32_t* type) {
  *type = 0;
  return kSuccess;
}

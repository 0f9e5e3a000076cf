#include "recording/checkpointer.h"

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <system_error>

#include "recording/database.h"

namespace pyrometer::recording {
namespace {

constexpr std::chrono::seconds kPeriod{5};
constexpr std::uintmax_t kSmallLog = 8U << 20U;  // bytes: below it nothing is gained

}  // namespace

void Checkpointer::start() {
  if (thread_.joinable()) return;
  // Signals are for the main thread.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Checkpointer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Checkpointer::run() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kPeriod, [this] { return stopping_; })) {
    lock.unlock();
    checkpoint();
    lock.lock();
  }
}

void Checkpointer::checkpoint() {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path_ + "-wal", error);
  if (error || size < kSmallLog) return;
  auto database = Database::open(path_, OpenMode::kExisting);
  // Best effort: what stays in the log is read from there.
  if (database) (void)database->execute("PRAGMA wal_checkpoint(PASSIVE);");
}

}  // namespace pyrometer::recording

#include "recording/checkpointer.h"

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
  if (started_) return;
  started_ = true;
  static_cast<void>(background_.start([this] {
    while (!background_.rest(kPeriod)) checkpoint();
  }));
}

void Checkpointer::stop() { background_.stop(); }

void Checkpointer::checkpoint() {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path_ + "-wal", error);
  if (error || size < kSmallLog) return;
  auto database = Database::open(path_, OpenMode::kExisting);
  // Best effort: what stays in the log is read from there.
  if (database) (void)database->execute("PRAGMA wal_checkpoint(PASSIVE);");
}

}  // namespace pyrometer::recording

// Fuzz target: any records in a ring, taken in by a recorder. A recorded process may hold anything.
//
// An input is a list of slots of 57 bytes: a flag byte (bit 0: not published, bit 1: time passes
// before it), then record header and body as in ring/layout.h. What the recorder makes of them is
// read again as a recording, and analysed.
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <utility>

#include "analysis/pass.h"
#include "monitor/process_recorder.h"
#include "recording/reader.h"
#include "recording/writer.h"
#include "ring/writer.h"
#include "tests/support/ring_records.h"

namespace {

using namespace pyrometer;

constexpr std::size_t kBytesPerSlot = 57;
constexpr std::uint32_t kSlots = 256;
constexpr model::TimeNs kHalfSecond = 500'000'000;

struct Place {
  std::filesystem::path recording =
      std::filesystem::path("/dev/shm") / ("ring_fuzz." + std::to_string(::getpid()) + ".pyro");
  ~Place() { remove(); }
  void remove() const {
    std::error_code error;
    for (const char* ending : {"", "-wal", "-shm", "-journal"}) {
      std::filesystem::remove(recording.string() + ending, error);
    }
  }
};

// Writes past the ring's own writer, which would not write such records.
void put(ring::Writer& writer, const std::uint8_t* bytes) {
  auto* header = &writer.header();
  auto* slots = reinterpret_cast<ring::Slot*>(reinterpret_cast<char*>(header) + ring::kHeaderBytes);
  const std::uint64_t position = header->head.load();
  ring::Slot& slot = slots[position & (kSlots - 1)];
  std::memcpy(reinterpret_cast<char*>(&slot) + sizeof(ring::SlotHeader), bytes + 1,
              ring::kSlotBytes - sizeof(ring::SlotHeader));
  if ((bytes[0] & 1U) == 0) slot.slot.sequence.store(position + 1);
  header->head.store(position + 1);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Place place;
  place.remove();
  const tests::RingFolder folder;
  ring::CreateError error = ring::CreateError::kNone;
  ring::Writer* writer = ring::Writer::create(folder.path(), kSlots, &error);
  auto file = recording::Writer::create(place.recording.string());
  if (writer == nullptr || !file) return 0;
  {
    monitor::ConfigTable configs(**file);
    monitor::ProcessRecorder recorder(folder.open_only(), 1, **file, configs, {});
    model::TimeNs now = 10 * kHalfSecond;
    const std::size_t most = std::min<std::size_t>(size / kBytesPerSlot, kSlots);
    for (std::size_t i = 0; i < most; ++i) {
      if ((data[i * kBytesPerSlot] & 2U) != 0) {
        (void)recorder.drain();
        recorder.advance(now += kHalfSecond);
        (*file)->commit();
      }
      put(*writer, data + i * kBytesPerSlot);
    }
    (void)recorder.drain();
    recorder.advance(now += kHalfSecond);
    recorder.finish(now);
  }
  (*file)->finish();
  const auto timeline = recording::read_recording(place.recording.string());
  if (timeline) (void)analysis::run_passes(*timeline, {.threads = 1});
  return 0;
}

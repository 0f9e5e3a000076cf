#include "sources/nvml/xid.h"

#include <string>

#include "sources/nvml/nvml_errors.h"

namespace pyrometer::sources::nvml {
namespace {

struct XidText {
  std::uint64_t xid;
  std::string_view text;
};
// From NVIDIA's public list of Xid errors.
constexpr XidText kTexts[] = {
    {13, "graphics engine exception, mostly a fault of the program"},
    {31, "memory page fault, mostly a fault of the program"},
    {32, "corrupted push buffer"},
    {38, "driver firmware error"},
    {43, "the program was stopped after an error"},
    {45, "the program was ended early, often after another error"},
    {48, "double-bit ECC error"},
    {61, "internal micro-controller breakpoint"},
    {62, "internal micro-controller halt"},
    {63, "memory row remapped"},
    {64, "memory row could not be remapped"},
    {68, "video processor exception"},
    {69, "graphics engine class error"},
    {74, "NVLink error"},
    {79, "the GPU has fallen off the bus"},
    {92, "high rate of single-bit ECC errors"},
    {94, "contained ECC error: the program that met it was stopped"},
    {95, "uncontained ECC error: the GPU has to be reset"},
    {109, "context switch timeout"},
    {119, "no answer from the GPU's system processor"},
    {120, "error of the GPU's system processor"},
    {121, "C2C link error"},
    {140, "unrecovered ECC error"},
    {144, "NVLink error"},
    {145, "NVLink error"},
    {149, "NVLink error"},
    {154, "the GPU needs to be recovered"},
};
constexpr int kMostEvents = 64;  // in one round; the rest is taken in the next

}  // namespace

std::string_view xid_text(std::uint64_t xid) {
  for (const XidText& known : kTexts) {
    if (known.xid == xid) return known.text;
  }
  return {};
}

void XidWatch::watch(Device& device) {
  device.watches_xid = false;
  if (device.is_mig) {
    device.xid_gap = {Absence::kNotApplicable, "of the whole GPU, not of a MIG instance"};
    return;
  }
  if (set_ == nullptr) {
    if (const Return code = call(api_.event_set_create, &set_); code != kSuccess) {
      set_ = nullptr;
      device.xid_gap = gap_of(code);
      return;
    }
  }
  const Return code = call(api_.register_events, device.handle, kEventXid, set_);
  device.watches_xid = code == kSuccess;
  if (code != kSuccess) device.xid_gap = gap_of(code);
}

Return XidWatch::collect(std::span<Device> devices, Batch& batch) {
  if (set_ == nullptr) return kSuccess;
  for (int i = 0; i < kMostEvents; ++i) {
    EventData event{};
    const Return code = call(api_.event_set_wait, set_, &event, 0U);
    if (code == kTimeout) return kSuccess;
    // One lost GPU: its own calls tell which.
    if (code != kSuccess) return is_driver_gone(code) ? code : kSuccess;
    if ((event.type & kEventXid) == 0) continue;
    for (Device& device : devices) {
      if (device.is_mig || device.handle != event.device) continue;
      device.last_xid = event.data;
      std::string text = "Xid " + std::to_string(event.data);
      if (const auto known = xid_text(event.data); !known.empty()) text.append(": ").append(known);
      batch.tell(EventKind::kXid, device.subject, monotonic_ns(), std::move(text),
                 static_cast<std::int64_t>(event.data));
      break;
    }
  }
  return kSuccess;
}

void XidWatch::close() noexcept {
  if (set_ != nullptr) static_cast<void>(call(api_.event_set_free, set_));
  set_ = nullptr;
}

}  // namespace pyrometer::sources::nvml

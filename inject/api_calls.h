// Which CUDA calls are recorded, and their names. Call numbers (cbids) are looked up by name in the
// CUPTI that is loaded: launches, copies, memsets, blocking calls, memory allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cupti_abi.h"

namespace pyrometer::inject {

// "cudaMemcpyAsync_ptsz_v7000" -> "cudaMemcpyAsync", "cuMemAlloc_v2" -> "cuMemAlloc".
std::string_view plain_call_name(std::string_view name);

// Whether a call of this plain name is recorded.
bool call_is_recorded(std::string_view plain_name);

class ApiCalls {
 public:
  // Looks all calls up. False where this CUPTI cannot record single calls.
  bool find(const cupti::Api& api);

  // Switches recording of all found calls; the first error ends it.
  cupti::Result enable(const cupti::Api& api, bool on) const;

  // The same where another client (torch.profiler) has had the kinds of all runtime and driver
  // calls: once these were switched off, CUPTI 13.0.1 accepts single calls and records none. So the
  // kinds are switched, and the calls that nobody wants taken out.
  cupti::Result enable_by_kind(const cupti::Api& api, bool on) const;

  // Plain name of a runtime or driver call; empty where it is none of ours.
  std::string_view name(bool driver, std::uint32_t cbid) const;

  std::size_t count() const { return runtime_.count + driver_.count; }

 private:
  static constexpr std::uint32_t kMostCbids = 2048;
  struct Domain {
    const char* names[kMostCbids];  // CUPTI's own strings, null: not recorded
    std::uint16_t lengths[kMostCbids];
    std::uint32_t end = 0;    // behind the last that is recorded
    std::uint32_t known = 0;  // behind the last that CUPTI knows
    std::uint32_t count = 0;
  };

  static void find_domain(const cupti::Api& api, std::uint32_t id, Domain* domain);

  Domain runtime_{};
  Domain driver_{};
};

}  // namespace pyrometer::inject

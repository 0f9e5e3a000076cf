#include "api_calls.h"

#include <cstring>

namespace pyrometer::inject {
namespace {

// A name, or with '*' all that begin so.
constexpr std::string_view kRecorded[] = {
    // launches
    "cudaLaunchKernel",
    "cudaLaunchKernelExC",
    "__cudaLaunchKernel",
    "cudaLaunchCooperativeKernel*",
    "cudaGraphLaunch",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuLaunchCooperativeKernel*",
    "cuGraphLaunch",
    // copies and memsets
    "cudaMemcpy*",
    "cudaMemset*",
    "cuMemcpy*",
    "cuMemset*",
    // blocking calls
    "cudaStreamSynchronize",
    "cudaDeviceSynchronize",
    "cudaEventSynchronize",
    "cuStreamSynchronize",
    "cuCtxSynchronize",
    "cuEventSynchronize",
    // memory: rare once a program's allocator has warmed up, and dear
    "cudaMalloc*",
    "cudaFree*",
    "cudaHostAlloc",
    "cudaHostRegister",
    "cudaHostUnregister",
    "cuMemAlloc*",
    "cuMemFree*",
    "cuMemHostAlloc",
    "cuMemCreate",
    "cuMemMap",
    "cuMemUnmap",
    "cuMemRelease",
    "cuMemSetAccess",
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Drops "_v" and digits from the end.
std::string_view without_version(std::string_view name) {
  std::size_t end = name.size();
  while (end > 0 && is_digit(name[end - 1])) {
    --end;
  }
  const bool versioned =
      end < name.size() && end >= 2 && name[end - 1] == 'v' && name[end - 2] == '_';
  return versioned ? name.substr(0, end - 2) : name;
}

}  // namespace

std::string_view plain_call_name(std::string_view name) {
  for (;;) {
    std::string_view shorter = without_version(name);
    // Variants for per-thread default streams.
    if (shorter.size() > 5 && (shorter.substr(shorter.size() - 5) == "_ptsz" ||
                               shorter.substr(shorter.size() - 5) == "_ptds")) {
      shorter.remove_suffix(5);
    }
    if (shorter.size() == name.size()) {
      return name;
    }
    name = shorter;
  }
}

bool call_is_recorded(std::string_view plain_name) {
  for (const std::string_view wanted : kRecorded) {
    if (wanted.back() == '*') {
      const std::string_view prefix = wanted.substr(0, wanted.size() - 1);
      if (plain_name.substr(0, prefix.size()) == prefix) {
        return true;
      }
    } else if (plain_name == wanted) {
      return true;
    }
  }
  return false;
}

bool ApiCalls::find(const cupti::Api& api) {
  if (api.enable_runtime_api == nullptr || api.enable_driver_api == nullptr) {
    return false;
  }
  find_domain(api, cupti::kDomainRuntime, &runtime_);
  find_domain(api, cupti::kDomainDriver, &driver_);
  return count() > 0;
}

void ApiCalls::find_domain(const cupti::Api& api, std::uint32_t id, Domain* domain) {
  *domain = {};
  // Numbers have gaps; beyond the last one there are only errors.
  constexpr std::uint32_t kLongestGap = 64;
  std::uint32_t unknown = 0;
  for (std::uint32_t cbid = 1; cbid < kMostCbids && unknown < kLongestGap; ++cbid) {
    const char* name = nullptr;
    if (api.get_callback_name(id, cbid, &name) != cupti::kSuccess || name == nullptr) {
      ++unknown;
      continue;
    }
    unknown = 0;
    domain->known = cbid + 1;
    const std::string_view plain = plain_call_name(name);
    if (call_is_recorded(plain)) {
      domain->names[cbid] = name;
      domain->lengths[cbid] = static_cast<std::uint16_t>(plain.size());
      domain->end = cbid + 1;
      ++domain->count;
    }
  }
}

cupti::Result ApiCalls::enable(const cupti::Api& api, bool on) const {
  for (std::uint32_t cbid = 0; cbid < runtime_.end; ++cbid) {
    if (runtime_.names[cbid] != nullptr) {
      const cupti::Result result = api.enable_runtime_api(cbid, on ? 1 : 0);
      if (on && result != cupti::kSuccess) {
        return result;
      }
    }
  }
  for (std::uint32_t cbid = 0; cbid < driver_.end; ++cbid) {
    if (driver_.names[cbid] != nullptr) {
      const cupti::Result result = api.enable_driver_api(cbid, on ? 1 : 0);
      if (on && result != cupti::kSuccess) {
        return result;
      }
    }
  }
  return cupti::kSuccess;
}

cupti::Result ApiCalls::enable_by_kind(const cupti::Api& api, bool on) const {
  for (const cupti::Kind kind : {cupti::kRuntime, cupti::kDriver}) {
    const cupti::Result result = on ? api.enable(kind) : api.disable(kind);
    if (on && result != cupti::kSuccess) {
      return result;
    }
  }
  if (!on) {
    return cupti::kSuccess;
  }
  // What stays in against our will is no harm: records of other calls are passed over.
  for (std::uint32_t cbid = 1; cbid < runtime_.known; ++cbid) {
    if (runtime_.names[cbid] == nullptr) {
      api.enable_runtime_api(cbid, 0);
    }
  }
  for (std::uint32_t cbid = 1; cbid < driver_.known; ++cbid) {
    if (driver_.names[cbid] == nullptr) {
      api.enable_driver_api(cbid, 0);
    }
  }
  return cupti::kSuccess;
}

std::string_view ApiCalls::name(bool driver, std::uint32_t cbid) const {
  const Domain& domain = driver ? driver_ : runtime_;
  if (cbid >= domain.end || domain.names[cbid] == nullptr) {
    return {};
  }
  return {domain.names[cbid], domain.lengths[cbid]};
}

}  // namespace pyrometer::inject

#include "importers/kineto/local_configs.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <type_traits>

namespace pyrometer::importers::kineto {
namespace {

constexpr std::size_t kFirstSlots = 256;

// Hashed as bytes, which needs a type without padding.
static_assert(sizeof(model::KernelConfig) == 40);
static_assert(std::is_trivially_copyable_v<model::KernelConfig>);

std::size_t hash_of(const model::KernelConfig& config) {
  return XXH3_64bits(&config, sizeof config);
}

}  // namespace

LocalConfigs::LocalConfigs() : slots_(kFirstSlots, model::kNone) {}

LocalId LocalConfigs::intern(const model::KernelConfig& config) {
  std::size_t slot = hash_of(config) & (slots_.size() - 1);
  while (slots_[slot] != model::kNone) {
    if (configs_[slots_[slot]] == config) return slots_[slot];
    slot = (slot + 1) & (slots_.size() - 1);
  }
  const auto id = static_cast<LocalId>(configs_.size());
  configs_.push_back(config);
  slots_[slot] = id;
  if (configs_.size() * 2 > slots_.size()) grow();
  return id;
}

void LocalConfigs::take_new(std::vector<model::KernelConfig>& out) {
  for (; published_ < configs_.size(); ++published_) out.push_back(configs_[published_]);
}

void LocalConfigs::grow() {
  std::vector<LocalId> bigger(slots_.size() * 2, model::kNone);
  for (LocalId id = 0; id < configs_.size(); ++id) {
    std::size_t slot = hash_of(configs_[id]) & (bigger.size() - 1);
    while (bigger[slot] != model::kNone) slot = (slot + 1) & (bigger.size() - 1);
    bigger[slot] = id;
  }
  slots_ = std::move(bigger);
}

}  // namespace pyrometer::importers::kineto

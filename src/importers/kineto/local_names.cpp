#include "importers/kineto/local_names.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace pyrometer::importers::kineto {
namespace {

using model::CopyKind;
using model::HostMemory;

constexpr std::size_t kFirstSlots = 1024;
constexpr std::size_t kBlockBytes = 64 * 1024;

// Operators whose shapes passes read: matrix products and convolutions (FLOPs), attention,
// conversions and copies (size, layout), embeddings, those that block the host, and those that fill
// a new tensor (randn's own operand is a list of sizes; the shape stands at the normal_ inside).
// Prefixes, after "aten::".
constexpr std::array<std::string_view, 41> kShapedOps = {
    "mm",         "addmm",        "bmm",         "baddbmm",     "matmul",         "linear",
    "conv",       "_conv",        "cudnn_conv",  "miopen_conv", "mkldnn_conv",    "slow_conv",
    "thnn_conv",  "scaled_dot",   "_scaled",     "_flash_att",  "_efficient_att", "to",
    "_to_copy",   "copy_",        "embedding",   "item",        "_local_scalar",  "nonzero",
    "is_nonzero", "_addmm",       "_grouped_mm", "normal",      "uniform_",       "random_",
    "bernoulli",  "exponential_", "fill_",       "zero_",       "lift_fresh",     "rand",
    "randn",      "full",         "zeros",       "ones",        "arange"};

bool wants_shapes(std::string_view name) {
  constexpr std::string_view kAten = "aten::";
  if (!name.starts_with(kAten)) {
    return name.find("flash_attn") != std::string_view::npos ||
           name.find("gemm") != std::string_view::npos;
  }
  name.remove_prefix(kAten.size());
  for (const std::string_view op : kShapedOps) {
    if (!name.starts_with(op)) continue;
    // "to" must not match "topk", nor "mm" "mm_foo": short names match whole.
    if (op.size() > 4 || name.size() == op.size()) return true;
    if (op == "conv") return true;
  }
  return false;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

void classify_copy(std::string_view name, CopyKind& copy, HostMemory& host) {
  struct Direction {
    std::string_view text;
    CopyKind kind;
  };
  constexpr std::array<Direction, 10> kDirections = {{{"HtoD", CopyKind::kH2D},
                                                      {"HtoA", CopyKind::kH2D},
                                                      {"DtoH", CopyKind::kD2H},
                                                      {"AtoH", CopyKind::kD2H},
                                                      {"DtoD", CopyKind::kD2D},
                                                      {"AtoA", CopyKind::kD2D},
                                                      {"AtoD", CopyKind::kD2D},
                                                      {"DtoA", CopyKind::kD2D},
                                                      {"HtoH", CopyKind::kH2H},
                                                      {"PtoP", CopyKind::kP2P}}};
  for (const Direction& d : kDirections) {
    if (contains(name, d.text)) {
      copy = d.kind;
      break;
    }
  }
  if (contains(name, "Pageable")) {
    host = HostMemory::kPageable;
  } else if (contains(name, "Pinned") || contains(name, "Registered")) {
    host = HostMemory::kPinned;
  }
}

LocalNames::LocalNames() : slots_(kFirstSlots, model::kNone) { (void)intern({}); }

LocalId LocalNames::intern(std::string_view raw) {
  const std::uint64_t hash = XXH3_64bits(raw.data(), raw.size());
  std::size_t slot = hash & (slots_.size() - 1);
  while (slots_[slot] != model::kNone) {
    const Entry& entry = entries_[slots_[slot]];
    if (entry.hash == hash && entry.raw == raw) return slots_[slot];
    slot = (slot + 1) & (slots_.size() - 1);
  }
  const LocalId id = add(raw, hash);
  slots_[slot] = id;
  if (entries_.size() * 2 > slots_.size()) grow();
  return id;
}

void LocalNames::take_new(std::vector<std::string_view>& out) {
  for (; published_ < entries_.size(); ++published_) out.push_back(entries_[published_].text);
}

LocalId LocalNames::add(std::string_view raw, std::uint64_t hash) {
  Entry entry;
  entry.hash = hash;
  entry.raw = store(raw);
  NameTraits& traits = entry.traits;
  const std::string text = readable_text(raw, traits.flaws);
  entry.text = text == raw ? entry.raw : store(text);
  traits.wants_shapes = wants_shapes(text);
  traits.is_memory = text == "[memory]";
  traits.is_hip = text.starts_with("hip") && text.size() > 3 && text[3] >= 'A' && text[3] <= 'Z';
  // Traces of 2021 have these among the operators.
  traits.is_range = text.starts_with("ProfilerStep#") || text.starts_with("Optimizer.") ||
                    text.starts_with("enumerate(DataLoader)#");
  classify_copy(text, traits.copy, traits.host);
  entries_.push_back(entry);
  return static_cast<LocalId>(entries_.size() - 1);
}

void LocalNames::grow() {
  std::vector<LocalId> bigger(slots_.size() * 2, model::kNone);
  for (LocalId id = 0; id < entries_.size(); ++id) {
    std::size_t slot = entries_[id].hash & (bigger.size() - 1);
    while (bigger[slot] != model::kNone) slot = (slot + 1) & (bigger.size() - 1);
    bigger[slot] = id;
  }
  slots_ = std::move(bigger);
}

std::string_view LocalNames::store(std::string_view bytes) {
  if (bytes.empty()) return {};
  if (blocks_.empty() || block_used_ + bytes.size() > block_size_) {
    block_size_ = std::max(kBlockBytes, bytes.size());
    blocks_.push_back(std::make_unique<char[]>(block_size_));
    block_used_ = 0;
  }
  char* place = blocks_.back().get() + block_used_;
  std::memcpy(place, bytes.data(), bytes.size());
  block_used_ += bytes.size();
  return {place, bytes.size()};
}

}  // namespace pyrometer::importers::kineto

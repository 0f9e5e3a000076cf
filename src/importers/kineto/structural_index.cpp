#include "importers/kineto/structural_index.h"

#include <simdjson.h>

#include <algorithm>

namespace pyrometer::importers::kineto {

// The only place that touches simdjson's implementation object, whose interface is public but not
// promised to stay (the same in all of simdjson 1.0 to 3.x).
struct StructuralIndex::Impl {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  std::size_t capacity = 0;

  [[nodiscard]] bool reserve(std::size_t size) {
    if (parser && size <= capacity) return true;
    // Depth matters only to stage 2, which is never run.
    constexpr std::size_t kDepth = 1;
    const simdjson::implementation* best = simdjson::get_active_implementation();
    const std::size_t wanted = std::max(size, capacity * 2);
    if (best->create_dom_parser_implementation(wanted, kDepth, parser) != simdjson::SUCCESS) {
      parser.reset();
      return false;
    }
    capacity = wanted;
    return true;
  }
};

StructuralIndex::StructuralIndex() : impl_(std::make_unique<Impl>()) {}
StructuralIndex::~StructuralIndex() = default;

StructuralIndex::Outcome StructuralIndex::build(const char* data, std::size_t size) {
  tokens_ = {};
  if (size == 0) return Outcome::kSound;
  if (!impl_->reserve(size)) return Outcome::kNoMemory;
  simdjson::internal::dom_parser_implementation& parser = *impl_->parser;
  const simdjson::error_code code = parser.stage1(reinterpret_cast<const std::uint8_t*>(data), size,
                                                  simdjson::stage1_mode::regular);
  if (code == simdjson::EMPTY) return Outcome::kSound;  // only white space
  if (code != simdjson::SUCCESS && code != simdjson::UTF8_ERROR) return Outcome::kBroken;
  tokens_ = {parser.structural_indexes.get(), parser.n_structural_indexes};
  return code == simdjson::SUCCESS ? Outcome::kSound : Outcome::kInvalidUtf8;
}

}  // namespace pyrometer::importers::kineto

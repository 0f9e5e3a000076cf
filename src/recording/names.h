// The strings of a recording: kernels, calls, ranges, keys.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "recording/rows.h"

namespace pyrometer::recording {

// Same text, same id, from 1 on; "" is 0. Views stay valid as long as the table.
class NameTable {
 public:
  NameTable() { texts_.emplace_back(); }
  [[nodiscard]] NameId intern(std::string_view text) {
    if (text.empty()) return 0;
    if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
    texts_.emplace_back(text);
    const auto id = static_cast<NameId>(texts_.size() - 1);
    ids_.emplace(texts_.back(), id);
    return id;
  }
  [[nodiscard]] std::string_view text(NameId id) const {
    return id < texts_.size() ? std::string_view(texts_[id]) : std::string_view();
  }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque: views into it stay valid
  std::unordered_map<std::string_view, NameId> ids_;
};

}  // namespace pyrometer::recording

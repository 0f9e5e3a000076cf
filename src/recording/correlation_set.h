// Correlation ids, which come and are asked for nearly in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pyrometer::recording {

// A sorted vector where a set of 10,000 ids is made anew twice a second: in order, adding is a push
// and asking a step from where the last answer was.
class CorrelationSet {
 public:
  void add(std::uint32_t id) {
    sorted_ = sorted_ && (ids_.empty() || ids_.back() <= id);
    ids_.push_back(id);
  }

  [[nodiscard]] bool contains(std::uint32_t id);

  template <typename Wanted>
  void keep_if(Wanted wanted) {
    sort();
    std::erase_if(ids_, [&wanted](std::uint32_t id) { return !wanted(id); });
    at_ = 0;
  }

 private:
  void sort();

  std::vector<std::uint32_t> ids_;
  std::size_t at_ = 0;  // of the last answer
  bool sorted_ = true;
};

}  // namespace pyrometer::recording

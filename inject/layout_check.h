// Looks at the first records that CUPTI delivers: are they laid out as cupti_abi.h says? A future
// version that differs is refused before a wrong number is written, or a wrong pointer followed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cupti_abi.h"

namespace pyrometer::inject {

class LayoutCheck {
 public:
  // Records to look at before it is content.
  static constexpr std::uint32_t kEnough = 64;

  bool done() const { return checked_ >= kEnough; }

  // Examines the records of a buffer. Null when they are sound, else what is wrong. `now` and
  // `earliest`: on CUPTI's clock.
  const char* examine(const cupti::Api& api, std::uint8_t* buffer, std::size_t valid,
                      std::uint64_t earliest, std::uint64_t now);

 private:
  static const char* check_record(const cupti::Activity& record, std::uint64_t earliest,
                                  std::uint64_t now);

  std::uint32_t checked_ = 0;
};

}  // namespace pyrometer::inject

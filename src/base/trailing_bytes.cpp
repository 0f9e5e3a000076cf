#include "base/trailing_bytes.h"

#include <vector>

namespace pyrometer::base {

std::string describe_trailing_bytes(ByteSource& source, std::int64_t begin, std::int64_t consumed,
                                    std::string_view data) {
  constexpr std::int64_t kMaxRead = 64 << 20;
  constexpr std::size_t kPiece = 256 * 1024;
  std::int64_t end = source.size_hint();
  bool all = true;
  if (end < consumed) {
    std::vector<char> ignored(kPiece);
    end = consumed;
    std::size_t got = 1;
    while (got > 0 && end - begin < kMaxRead) {
      got = source.read(ignored.data(), ignored.size()).value_or(0);
      end += static_cast<std::int64_t>(got);
    }
    all = got == 0;
  }
  return (all ? "" : "at least ") + std::to_string(end - begin) +
         (end - begin == 1 ? " byte" : " bytes") + " after the end of the " + std::string(data) +
         " data ignored (from byte " + std::to_string(begin) + " of the packed file on)";
}

}  // namespace pyrometer::base

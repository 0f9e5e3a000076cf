#include "server/gzip.h"

#include <isa-l/igzip_lib.h>

#include <cstdint>
#include <limits>
#include <memory>

namespace pyrometer::server {

std::string gzip(std::string_view text) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max() / 2) return {};
  // The state has tables of tens of kilobytes: not for the stack.
  const auto stream = std::make_unique<isal_zstream>();
  const auto level = std::make_unique<std::uint8_t[]>(ISAL_DEF_LVL1_DEFAULT);
  isal_deflate_init(stream.get());
  stream->level = 1;
  stream->level_buf = level.get();
  stream->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
  stream->gzip_flag = IGZIP_GZIP;
  stream->end_of_stream = 1;
  stream->flush = NO_FLUSH;
  // igzip does not change its input.
  stream->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));  // NOLINT
  stream->avail_in = static_cast<std::uint32_t>(text.size());
  std::string out(text.size() / 4 + 1024, '\0');
  std::size_t used = 0;
  while (true) {
    stream->next_out = reinterpret_cast<std::uint8_t*>(out.data() + used);
    stream->avail_out = static_cast<std::uint32_t>(out.size() - used);
    if (isal_deflate(stream.get()) != COMP_OK) return {};
    used = out.size() - stream->avail_out;
    if (stream->internal_state.state == ZSTATE_END) break;
    out.resize(out.size() * 2);
  }
  out.resize(used);
  return out;
}

}  // namespace pyrometer::server

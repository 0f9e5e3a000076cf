#include "importers/kineto/local_threads.h"

#include <iterator>
#include <utility>

namespace pyrometer::importers::kineto {

LocalId LocalThreads::intern(std::int64_t pid, std::string_view tid) {
  std::string key = std::to_string(pid);
  key += '/';
  key += tid;
  const auto [at, is_new] = ids_.try_emplace(std::move(key), static_cast<LocalId>(ids_.size()));
  if (is_new) new_.push_back({pid, std::string(tid)});
  return at->second;
}

void LocalThreads::take_new(std::vector<LocalThread>& out) {
  out.insert(out.end(), std::make_move_iterator(new_.begin()), std::make_move_iterator(new_.end()));
  new_.clear();
}

}  // namespace pyrometer::importers::kineto

// The last that each source told of its GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "readout/snapshot.h"
#include "sources/reading.h"
#include "sources/source.h"

namespace pyrometer::readout {

// Not thread-safe.
class Board {
 public:
  // Takes what a source has measured over what it told before: values one by one, the processes of
  // a GPU as a whole. GPUs that a batch of the fast group does not tell of are gone.
  void take(const sources::Batch& batch);

  // Forgets what the source told: it is out of order, and old values would pass for new ones.
  void forget(std::string_view source);

  // By source, then by the driver's number, instances after their GPU. Owners of processes, time
  // and host are the caller's to fill in.
  [[nodiscard]] std::vector<Device> devices() const;
  // Of a source's device; empty where it is not known.
  [[nodiscard]] std::string uuid_of(std::string_view source, std::int32_t number) const;

 private:
  struct Key {
    std::size_t source;  // in order of appearance
    std::int32_t number;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  [[nodiscard]] std::size_t number_of_source(std::string_view name);

  std::vector<std::string> sources_;
  std::map<Key, Device> devices_;
};

}  // namespace pyrometer::readout

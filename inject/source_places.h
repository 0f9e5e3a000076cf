// Short names of source files, so that no folder of the user's is recorded: what `short` of
// python/pyrometer_hook/places.py makes, with the folders that it has found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace pyrometer::inject {

class SourcePlaces {
 public:
  static constexpr std::size_t kMostName = 512;  // bytes of a short name; longer ones are cut

  // `folders`: lines of a letter and a folder with a slash at its end: H the hook's, L of
  // libraries, the longest first, S the script's. False: more than there is room for.
  bool set(std::string_view folders);

  // Whether the file is one of the user's own, and its short name, which may be part of `file`.
  struct Short {
    std::string_view name;
    bool users = false;
  };
  Short shorten(std::string_view file) const;

 private:
  struct Folder {
    char kind = 0;
    std::string_view path;
  };
  static constexpr std::size_t kMostFolders = 64;
  char text_[16384] = {};
  Folder folders_[kMostFolders] = {};
  std::size_t count_ = 0;
};

}  // namespace pyrometer::inject

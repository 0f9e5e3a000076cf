# Libraries are Debian's. A development build links them as they come. A relocatable build
# (PYROMETER_RELOCATABLE) takes the archive where Debian ships one and otherwise bundles the shared
# object, see install.cmake. CLI11, nlohmann-json, toml++, tl::expected and xxHash are headers.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(simdjson REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET libisal)

# pyrometer_archive(<target> <archive>…): an imported target that links these archives.
function(pyrometer_archive target)
  set(files)
  foreach(archive IN LISTS ARGN)
    find_library(PYROMETER_ARCHIVE_${archive} NAMES lib${archive}.a REQUIRED)
    list(APPEND files ${PYROMETER_ARCHIVE_${archive}})
  endforeach()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_link_libraries(${target} INTERFACE ${files})
endfunction()

if(PYROMETER_RELOCATABLE)
  pyrometer_archive(PkgConfig::ZSTD zstd)
  pyrometer_archive(PkgConfig::SQLITE sqlite3)
  target_link_libraries(PkgConfig::SQLITE INTERFACE Threads::Threads m ${CMAKE_DL_LIBS})
  # What libarchive needs for the formats that base/archive_reader.cpp asks for; others stay out.
  pyrometer_archive(PkgConfig::LIBARCHIVE archive nettle lzma zstd lz4 bz2 z)
  pyrometer_archive(PkgConfig::NCURSES ncursesw tinfo)
else()
  pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
  pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
  pkg_check_modules(LIBARCHIVE REQUIRED IMPORTED_TARGET libarchive)
  pkg_check_modules(NCURSES REQUIRED IMPORTED_TARGET ncursesw)
endif()

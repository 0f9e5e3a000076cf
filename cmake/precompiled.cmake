# With PYROMETER_PCH all stages share one precompiled header: the standard and third-party headers
# that most sources read. With clang that halves a build; GCC gains nothing by it. The preset gcc
# builds without it and keeps the sources' own includes honest.
if(PYROMETER_PCH)
  set(source ${PROJECT_BINARY_DIR}/precompiled.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT
    "// Has nothing of its own: CMake precompiles headers for a target that has a source.\n")
  add_library(pyrometer_headers OBJECT ${source})
  target_link_libraries(pyrometer_headers PRIVATE
    pyrometer_warnings fmt::fmt nlohmann_json::nlohmann_json)
  target_precompile_headers(pyrometer_headers PRIVATE
    <fmt/format.h> <nlohmann/json.hpp> <tl/expected.hpp>
    <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstdint> <filesystem>
    <fstream> <functional> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream>
    <string> <string_view> <system_error> <thread> <tuple> <unordered_map> <utility> <variant>
    <vector>)
endif()

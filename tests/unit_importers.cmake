add_library(pyrometer_trace_test_support STATIC
  ${PROJECT_SOURCE_DIR}/tests/support/pack.cpp
  ${PROJECT_SOURCE_DIR}/tests/support/timeline_text.cpp
  ${PROJECT_SOURCE_DIR}/tests/support/trace_text.cpp)
target_link_libraries(pyrometer_trace_test_support
  PUBLIC pyrometer_importers pyrometer_test_support
  PRIVATE pyrometer_warnings PkgConfig::LIBARCHIVE PkgConfig::ZSTD)

pyrometer_test(byte_source_test
  SOURCES
    src/base/archive_reader_test.cpp
    src/base/byte_source_test.cpp
    src/base/background_test.cpp
    src/base/parallel_test.cpp
    src/model/time_outliers_test.cpp
  LIBS pyrometer_trace_test_support)

pyrometer_test(import_test
  SOURCES
    src/importers/input_file_test.cpp
  LIBS pyrometer_trace_test_support)

pyrometer_test(kineto_test
  SOURCES
    src/importers/kineto/event_scan_test.cpp
    src/importers/kineto/kineto_damage_test.cpp
    src/importers/kineto/kineto_property_test.cpp
    src/importers/kineto/kineto_test.cpp
    src/importers/kineto/numbers_test.cpp
  LIBS pyrometer_trace_test_support)

pyrometer_test(json_writer_test
  SOURCES
    src/base/json_writer_test.cpp
  LIBS pyrometer_base nlohmann_json::nlohmann_json)

pyrometer_test(tune_test
  SOURCES
    src/output/tune_report_test.cpp
    src/tune/result_test.cpp
    src/tune/search_test.cpp
    src/tune/space_test.cpp
  LIBS pyrometer_tune pyrometer_output nlohmann_json::nlohmann_json)

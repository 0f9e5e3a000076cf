pyrometer_test(reference_test
  SOURCES
    tests/reference/hta_view.cpp
    tests/reference/ledger.cpp
    tests/reference/reference_cases.cpp
    tests/reference/reference_test.cpp
  LIBS pyrometer_importers pyrometer_analysis nlohmann_json::nlohmann_json)

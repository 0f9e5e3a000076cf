pyrometer_test(tune_test
  SOURCES
    src/tune/result_test.cpp
    src/tune/search_test.cpp
    src/tune/space_test.cpp
  LIBS pyrometer_tune)

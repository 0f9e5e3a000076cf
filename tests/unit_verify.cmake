pyrometer_test(verify_test
  SOURCES
    src/verify/bootstrap_test.cpp
    src/verify/sequential_test.cpp
  LIBS pyrometer_verify)

pyrometer_fuzzer(http_fuzz
  SOURCES
    tests/fuzz/http_fuzz.cpp
  LIBS pyrometer_server
  CORPUS tests/fuzz/corpus/http)

pyrometer_fuzzer(kineto_fuzz
  SOURCES
    tests/fuzz/kineto_fuzz.cpp
    tests/support/timeline_text.cpp
  LIBS pyrometer_importers
  CORPUS tests/fuzz/corpus/kineto)

pyrometer_fuzzer(sources_fuzz
  SOURCES
    tests/fuzz/sources_fuzz.cpp
  LIBS pyrometer_sources
  CORPUS tests/fuzz/corpus/sources)

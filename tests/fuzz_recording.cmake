pyrometer_fuzzer(ring_fuzz
  SOURCES
    tests/fuzz/ring_fuzz.cpp
    tests/support/ring_records.cpp
  LIBS pyrometer_monitor
  CORPUS tests/fuzz/corpus/ring)
pyrometer_fuzzer(recording_fuzz
  SOURCES
    tests/fuzz/recording_fuzz.cpp
  LIBS pyrometer_recording pyrometer_analysis PkgConfig::SQLITE
  CORPUS tests/fuzz/corpus/recording)

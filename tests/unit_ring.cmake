pyrometer_test(ring_test
  SOURCES
    src/ring/ring_test.cpp
    tests/support/ring_records.cpp
  LIBS pyrometer_ring)

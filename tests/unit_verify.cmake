pyrometer_test(verify_test
  SOURCES
    src/verify/bootstrap_test.cpp
    src/verify/comparison_test.cpp
    src/verify/energy_rows_test.cpp
    src/verify/gate_test.cpp
    src/verify/sequential_test.cpp
    src/verify/trial_steps_test.cpp
  LIBS pyrometer_verify)

# What lets ctest pack the tests: those that last start first, and those that compute all the time
# take two of the slots, of which there are two per core (`make test`). Most others wait for
# processes, or are over at once. Seconds on a machine of two cores; only their order matters.
function(pyrometer_lasts seconds)
  cmake_parse_arguments(ARG "COMPUTES" "" "" ${ARGN})
  foreach(name IN LISTS ARG_UNPARSED_ARGUMENTS)
    if(TEST ${name})
      set_tests_properties(${name} PROPERTIES COST ${seconds})
      if(ARG_COMPUTES)
        set_tests_properties(${name} PROPERTIES PROCESSORS 2)
      endif()
    endif()
  endforeach()
endfunction()

pyrometer_lasts(180 run.try)
pyrometer_lasts(100 COMPUTES hook.overrides_test)
pyrometer_lasts(70 COMPUTES run.sampler run.kill)
pyrometer_lasts(40 screen.top run.tune)
pyrometer_lasts(30 COMPUTES hook.safety_test hook.trials_test hook.overrides_gpu_test run.training run.where)
pyrometer_lasts(25 hook.flops_test hook.training_test hook.parts_test bench.diagnosis.smoke)
pyrometer_lasts(20 serve.http serve.metrics serve.prometheus run.surroundings)
pyrometer_lasts(10 run.economy run.ends run.privacy run.overrides serve.recordings screen.goldens
  case.report_json_public)

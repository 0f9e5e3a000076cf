// Why worker processes deliver batches too slowly. One cause at most, so that the specific findings
// share out the wait and the general one is left with what none explains.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rules/rule.h"

namespace pyrometer::rules {

enum class InputCause : std::uint8_t {
  kNotBound,        // no loader with workers, or hardly any wait
  kUnknown,         // it waits, and nothing is known of the workers
  kOther,           // it waits, and no pattern fits
  kCpuShortage,     // the workers wait for CPUs for a reason that is a finding of its own
  kWorkerAffinity,  // the workers may run on fewer CPUs than the training process
  kOneWorker,       // one of several workers is busy, the others have nothing to do
  kSlowStorage,     // the workers wait for something that is no CPU
  kTooFewWorkers,   // the workers are busy and CPUs are free
  kDecodeBound,     // the workers are busy and no CPU is free
};

struct InputDiagnosis {
  InputCause cause = InputCause::kNotBound;
  std::size_t position = 0;  // rank that waits most
  double steady = 0;         // its wait, of the time, without starts of iterators
  double own = 0;            // the same without what a finding about CPU time explains of it
  double blocked = 0;    // time in which workers wait for no CPU, of that in which they are waited
                         // for, at least
  double free_cpus = 0;  // CPUs' worth of time that the training may use and nobody does
};

[[nodiscard]] InputDiagnosis diagnose_input(const Context& context);

}  // namespace pyrometer::rules

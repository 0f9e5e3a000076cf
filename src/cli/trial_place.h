// Where the trials of `try` and `tune` run, and how long one may stand still: options of both.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/scratch_folder.h"

namespace pyrometer::cli {

class TrialPlace {
 public:
  [[nodiscard]] Option copy_option();
  [[nodiscard]] Option patience_option();
  [[nodiscard]] Option keep_option();

  // A folder for what the trials write; tells where it is if it stays (--keep).
  [[nodiscard]] base::Result<ScratchFolder> make_scratch() const;
  // The folder to run in: a copy of the present one (--copy), or "" for the present one itself.
  // Needs a monitor::Interrupts, at whose first signal copying stops.
  [[nodiscard]] base::Result<std::string> make_folder(const ScratchFolder& scratch) const;
  // How long a trial of `length_s` seconds may make no step.
  [[nodiscard]] std::chrono::seconds patience(double length_s) const;
  [[nodiscard]] bool keeps() const { return keep_; }

 private:
  double patience_s_ = 0;  // 0: by the length of a trial
  bool copy_ = false;
  bool keep_ = false;
};

}  // namespace pyrometer::cli

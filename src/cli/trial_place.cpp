#include "cli/trial_place.h"

#include <algorithm>
#include <cmath>

#include "cli/folder_copy.h"
#include "cli/message.h"
#include "cli/values.h"

namespace pyrometer::cli {

Option TrialPlace::copy_option() {
  return {.long_name = "copy",
          .help =
              "run the trials in a copy of the present folder, so that what they write is not "
              "left there",
          .set = set_true(copy_)};
}

Option TrialPlace::patience_option() {
  return {.long_name = "patience",
          .value = "TIME",
          .help = "a trial that makes no step for so long is ended as hung",
          .set = set_duration(patience_s_),
          .tier = Tier::kAdvanced};
}

Option TrialPlace::keep_option() {
  return {.long_name = "keep",
          .help = "keep the folder with recordings and output of the trials",
          .set = set_true(keep_),
          .tier = Tier::kAdvanced};
}

base::Result<ScratchFolder> TrialPlace::make_scratch() const {
  auto scratch = ScratchFolder::make();
  if (scratch && keep_) {
    scratch->keep();
    print_warning("the trials are kept in " + scratch->path());
  }
  return scratch;
}

base::Result<std::string> TrialPlace::make_folder(const ScratchFolder& scratch) const {
  if (!copy_) return std::string();
  std::string folder = scratch.path() + "/work";
  if (std::string failed = copy_present_folder(folder, scratch.path()); !failed.empty()) {
    return base::fail(
        {.kind = base::ErrorKind::kIo, .message = std::move(failed), .file = "", .expected = ""});
  }
  return folder;
}

std::chrono::seconds TrialPlace::patience(double length_s) const {
  constexpr double kShortest = 60;
  constexpr double kLengths = 4;
  const double patience_s =
      patience_s_ > 0 ? patience_s_ : std::max(kShortest, kLengths * length_s);
  return std::chrono::seconds(static_cast<long>(std::ceil(patience_s)));
}

}  // namespace pyrometer::cli

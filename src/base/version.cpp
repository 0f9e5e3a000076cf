#include "base/version.h"

namespace pyrometer::base {

std::string_view version() { return PYROMETER_VERSION; }

}  // namespace pyrometer::base

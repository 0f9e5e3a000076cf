// Lines of the program in findings about its host code.
#pragma once

#include "model/finding.h"
#include "rules/rule.h"

namespace pyrometer::rules {

// Adds to `where` of findings about blocking calls the lines whose calls were named and blocked
// longest: at most three, each with a tenth of that time or more.
// Adds to `where` of others the lines in which the training thread was sampled most while it did
// what the finding is about: at most three, each with a tenth of those samples or more. Nothing
// where the run has no samples, or the finding is not about host code.
void add_host_lines(const Context& context, model::Finding& finding);

}  // namespace pyrometer::rules

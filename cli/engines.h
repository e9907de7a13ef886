// The library's engines as data, for doctor and the studio.
#pragma once

#include "cli/answer.h"

namespace convgrad::cli {

Json engines_json();  // [{name, obstacle, description}]; obstacle: why it cannot run on this machine, empty when it can

}  // namespace convgrad::cli

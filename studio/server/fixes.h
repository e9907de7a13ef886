// Obvious repairs of a page's mistakes, as commands of the page.
#pragma once

#include "cli/inferred.h"

namespace convgrad::studio {

// Adds `fix: {text, commands}` to those errors of an inferred page that have one. A command is {"connect": [[node,
// pin], [node, pin]]} or {"set": [node, attribute, value]}.
void add_fixes(cli::Json& json, const cli::InferredPage& inferred);

}  // namespace convgrad::studio

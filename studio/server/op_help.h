// The op table with what the help of a block shows beside it.
#pragma once

#include <string>

namespace convgrad::studio {

// ops_json() of the library; ops that have one with their formula, and with a scene of the gallery.
const std::string& ops_with_help();

}  // namespace convgrad::studio

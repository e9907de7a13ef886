// A page with the numbers that it shows, as a file that a test can read.
#pragma once

#include <string>

#include "convgrad/graph/page.h"

namespace convgrad::studio {

// Runs the page: {"page": ..., "expect": [{node, pin, dtype, shape, data}]} of everything that it fetches.
Result<std::string> test_case_text(const graph::Page& page);

}  // namespace convgrad::studio

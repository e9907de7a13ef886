// Which cells of its operands feed one cell of a convolution's result, with the sum written out.
#pragma once

#include <string>
#include <string_view>

#include "studio/server/page_run.h"

namespace convgrad::studio {

// body: {run, node, index, from?}. Answers {result, engine, formula, terms: [{tap, a: {pin, index, value}, b,
// product}], sum, total, from, skipped: {padding}}; texts are as page files write elements, products and sums in
// double.
Result<std::string> explain_cell(PageRun& run, std::string_view body);

}  // namespace convgrad::studio

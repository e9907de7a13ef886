// The ops of graphs as a person reads them, from the op table.
#pragma once

#include <string>

#include "convgrad/graph/op_table.h"

namespace convgrad::cli {

// "Conv2D(input, filter)".
std::string signature(const graph::OpSpec& op);
// One op in full, for a terminal.
std::string op_text(const graph::OpSpec& op);
// All of them as a page of Markdown.
std::string ops_markdown();

}  // namespace convgrad::cli

// convgrad check GRAPH: the verdict on what infer finds.
#pragma once

#include <string>

namespace convgrad::cli {

int check_graph(const std::string& path, bool json);

}  // namespace convgrad::cli

// convgrad check GRAPH.
#pragma once

#include <string>

namespace convgrad::cli {

int check_graph(const std::string& path, bool json);

}  // namespace convgrad::cli

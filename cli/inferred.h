// What every wire of a page carries, or why it does not: for infer, check and the studio.
#pragma once

#include <string_view>
#include <vector>

#include "cli/answer.h"
#include "convgrad/graph/page.h"

namespace convgrad::cli {

struct InferredPage {
  graph::Page page;
  std::vector<graph::NodeReport> reports;
  std::vector<Status> errors;  // every node's own; what only the page as a whole has when no node has one
};
InferredPage inferred(graph::Page page);

// Names of an op's output pins by index; "output" where it has none such.
std::string_view output_pin(std::string_view op, std::size_t index);
// -1 stands for a size that is not known, null for a rank that is not.
Json shape_json(const graph::PartialTensorShape& shape);

Json errors_json(const std::vector<Status>& errors);
// {ok, nodes: [{id, op, ok, outputs: [{pin, dtype, shape}], error?}], errors}.
Json inferred_json(const InferredPage& inferred);

}  // namespace convgrad::cli

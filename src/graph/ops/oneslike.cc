#include "graph/ops/elementwise.h"

namespace convgrad::graph {
namespace {

Result<std::vector<Tensor>> run(const NodeRun& run) {
  return map_elements(run, [](auto) { return 1; });
}
std::vector<Output> gradient(const NodeGradient&) { return {NoGradient()}; }

}  // namespace

OpRow OnesLike_row() {
  return {.spec = {.name = "OnesLike",
                   .group = "Core",
                   .doc = "A tensor of ones with the shape and type of another.",
                   .inputs = {{"x", "T", "Any tensor."}},
                   .outputs = {{"y", "T", "As many ones."}},
                   .attrs = {type_of_inputs("T", number_types())}},
          .infer = same_as_first,
          .run = run,
          .gradient = gradient};
}

}  // namespace convgrad::graph

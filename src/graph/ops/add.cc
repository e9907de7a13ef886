#include "graph/ops/elementwise.h"

namespace convgrad::graph {
namespace {

Result<std::vector<Tensor>> run(const NodeRun& run) {
  return zip_elements(run, [](auto x, auto y) { return x + y; });
}

std::vector<Output> gradient(const NodeGradient& g) { return {unbroadcast(g, g.dy[0], 0), unbroadcast(g, g.dy[0], 1)}; }

}  // namespace

OpRow add_row(string name, string doc) {
  return {.spec = broadcasting_op(std::move(name), std::move(doc)),
          .infer = broadcast_both,
          .run = run,
          .gradient = gradient};
}

OpRow Add_row() { return add_row("Add", "x + y, element by element."); }

}  // namespace convgrad::graph

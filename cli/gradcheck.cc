// convgrad gradcheck: symbolic gradients against differences.
#include <fmt/core.h>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/numbers.h"
#include "cli/pages.h"
#include "cli/terminal.h"
#include "convgrad/graph/gradients.h"

namespace convgrad::cli {
namespace {

const graph::WireInfo& wire_of(const graph::Output& output) {
  return output.node()->outputs()[static_cast<std::size_t>(output.index())];
}

Result<graph::TensorShape> known_shape(const graph::Output& output) {
  graph::TensorShape shape;
  if (wire_of(output).shape.AsTensorShape(&shape)) return shape;
  return complain({.rule = "graph-shape",
                   .argument = label(output),
                   .reason = fmt::format("the shape of {} is known only when it runs", in_quotes(label(output))),
                   .got = wire_of(output).shape.DebugString(),
                   .wanted = "known sizes, or a tensor by --feed"});
}

// Where to differentiate: what is fed, else a constant's own value, else random numbers.
Result<graph::Tensor> value_of(const graph::Output& x, const graph::ClientSession::FeedType& feeds) {
  if (const auto fed = feeds.find(x); fed != feeds.end()) return fed->second.tensor;
  if (wire_of(x).value) return *wire_of(x).value;
  const Result<graph::TensorShape> shape = known_shape(x);
  if (!shape.ok()) return shape.status();
  const Result<std::vector<graph::Tensor>> random = graph::random_values({x}, {*shape});
  return random.ok() ? Result<graph::Tensor>(random->front()) : random.status();
}

Result<graph::GradientCheck> judge(const graph::PageGraph& graph, const GradcheckRequest& request) {
  const Result<std::vector<graph::Output>> ys = find_outputs(graph, request.of, "--of");
  if (!ys.ok()) return ys.status();
  const Result<std::vector<graph::Output>> xs = find_outputs(graph, request.wrt, "--wrt");
  if (!xs.ok()) return xs.status();
  const Result<graph::ClientSession::FeedType> feeds = read_feeds(graph, request.feed);
  if (!feeds.ok()) return feeds.status();
  std::vector<graph::Tensor> values;
  for (const graph::Output& x : *xs) {
    const Result<graph::Tensor> value = value_of(x, *feeds);
    if (!value.ok()) return value.status();
    values.push_back(*value);
  }
  std::vector<graph::TensorShape> shapes;
  for (const graph::Output& y : *ys) {
    const Result<graph::TensorShape> shape = known_shape(y);
    if (!shape.ok()) return shape.status();
    shapes.push_back(*shape);
  }
  return graph::check_gradients(graph.scope, *xs, values, *ys, shapes);
}

void answer(const graph::GradientCheck& check, bool json) {
  if (json) {
    print_json({{"ok", check.passed()},
                {"max_error", check.max_error},
                {"tolerance", check.tolerance},
                {"largest", check.largest}});
    return;
  }
  const bool passed = check.passed();
  fmt::print(
      "largest difference  {:.6g}\ntolerance           {:.6g}\nlargest entry       {:.6g}\nverdict             {}\n",
      check.max_error, check.tolerance, check.largest,
      coloured(passed ? Colour::green : Colour::red, passed ? "ok" : "wrong", stdout));
}

}  // namespace

int gradcheck_command(const GradcheckRequest& request) {
  const Result<double> tolerance = request.tolerance.empty() ? 0 : parse_positive("--tolerance", request.tolerance);
  if (!tolerance.ok()) return refuse(tolerance.status());
  const Result<LoadedGraph> loaded = read_graph(request.graph);
  if (!loaded.ok()) return refuse(loaded.status());
  Result<graph::GradientCheck> check = judge(loaded->graph, request);
  if (!check.ok()) return refuse(check.status());
  if (*tolerance > 0) check->tolerance = *tolerance;
  answer(*check, request.json);
  if (check->passed()) return kOk;
  return refuse_usage(
      fmt::format("the gradients differ by {:.6g}, more than {:.6g}", check->max_error, check->tolerance));
}

}  // namespace convgrad::cli

// convgrad gradcheck: symbolic gradients against differences.
#include <fmt/core.h>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/gradients.h"
#include "cli/numbers.h"
#include "cli/pages.h"
#include "cli/terminal.h"

namespace convgrad::cli {
namespace {

Result<graph::GradientCheck> judge(const graph::PageGraph& graph, const GradcheckRequest& request) {
  const Result<std::vector<graph::Output>> ys = find_outputs(graph, request.of, "--of");
  if (!ys.ok()) return ys.status();
  const Result<std::vector<graph::Output>> xs = find_outputs(graph, request.wrt, "--wrt");
  if (!xs.ok()) return xs.status();
  const Result<graph::ClientSession::FeedType> feeds = read_feeds(graph, request.feed);
  if (!feeds.ok()) return feeds.status();
  return check_gradients(graph, {*ys, *xs}, *feeds);
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

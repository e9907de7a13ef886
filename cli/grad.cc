// convgrad grad: the page with the nodes of its gradients.
#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/gradients.h"
#include "cli/pages.h"

namespace convgrad::cli {

int grad_command(const GradRequest& request) {
  Result<LoadedGraph> loaded = read_graph(request.graph);
  if (!loaded.ok()) return refuse(loaded.status());
  const Result<std::vector<graph::Output>> of = find_outputs(loaded->graph, request.of, "--of");
  if (!of.ok()) return refuse(of.status());
  const Result<std::vector<graph::Output>> wrt = find_outputs(loaded->graph, request.wrt, "--wrt");
  if (!wrt.ok()) return refuse(wrt.status());
  const Result<std::vector<graph::PagePin>> gradients = add_gradients(loaded->page, loaded->graph, {*of, *wrt});
  if (!gradients.ok()) return refuse(gradients.status());
  loaded->page.fetch.insert(loaded->page.fetch.end(), gradients->begin(), gradients->end());
  return write_page(loaded->page, request.out);
}

}  // namespace convgrad::cli

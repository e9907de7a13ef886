#include "studio/server/test_case.h"

#include <fmt/core.h>

#include "cli/pages.h"
#include "convgrad/graph/session.h"
#include "studio/server/tensors.h"

namespace convgrad::studio {

Result<std::string> test_case_text(const graph::Page& page) {
  const Result<std::string> text = graph::page_text(page);
  if (!text.ok()) return text.status();
  const Result<graph::PageGraph> graph = graph::build_page(page);
  if (!graph.ok()) return graph.status();
  std::vector<graph::Tensor> tensors;
  const graph::Status status = graph::ClientSession(graph->scope).Run(graph->fetch, &tensors);
  if (!status.ok()) return status.core();
  Json expect = Json::array();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const graph::Output& output = graph->fetch[i];
    expect.push_back(Json{{"node", output.node()->name()},
                          {"pin", cli::pin_name(output)},
                          {"dtype", graph::DataTypeString(tensors[i].dtype())},
                          {"shape", tensors[i].shape().dim_sizes()},
                          {"data", head_json(tensors[i], tensors[i].NumElements())}});
  }
  return fmt::format("{{\"page\": {},\n\"expect\": {}}}\n", *text, expect.dump(1));
}

}  // namespace convgrad::studio

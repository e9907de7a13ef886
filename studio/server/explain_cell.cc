#include "studio/server/explain_cell.h"

#include <fmt/core.h>

#include "cli/answer.h"
#include "convgrad/terms.h"
#include "studio/server/body.h"
#include "studio/server/tensors.h"

namespace convgrad::studio {
namespace {

constexpr std::int64_t kMostTerms = 4096;  // of one answer

// All that an answer is made of.
struct Explained {
  Geometry geometry;
  graph::PagePin pins[2] = {};  // inputs of the block, in the order of operands(geometry)
  graph::Tensor tensors[2] = {};
  graph::Tensor result = {};
};

Status refused_block(const std::string& node, std::string reason) {
  return cli::complain({.rule = "graph-fetch",
                        .argument = "node",
                        .reason = std::move(reason),
                        .got = cli::in_quotes(cli::printable(node)),
                        .wanted = "a convolution or a gradient of one, with a value"});
}

// The tensor at an input pin: an output of another block of the same run.
Result<graph::Tensor> input_tensor(const PageRun& run, const graph::Node& node, std::string_view pin) {
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    if (node.op().inputs[i].name != pin) continue;
    const graph::Wire& wire = node.inputs()[i];
    return run.tensor({wire.node->name(), wire.node->op().outputs[static_cast<std::size_t>(wire.index)].name});
  }
  return refused_block(node.name(), "the block has no such input");
}

Result<Explained> explained(const PageRun& run, const std::string& id) {
  const graph::Node* node = run.node(id);
  if (node == nullptr) return refused_block(id, "the run has no such block");
  const Result<std::optional<Geometry>> geometry = graph::convolution_of(*node);
  if (!geometry.ok()) return geometry.status();
  if (!geometry->has_value()) return refused_block(id, "the block is no convolution");
  Explained all{.geometry = **geometry};
  Result<graph::Tensor> result = run.tensor({id, node->op().outputs.front().name});
  if (!result.ok()) return result.status();
  all.result = std::move(*result);
  const std::vector<Operand> read = operands(all.geometry);
  for (std::size_t i = 0; i < read.size() && i < 2; ++i) {
    Result<graph::Tensor> tensor = input_tensor(run, *node, read[i].name);
    if (!tensor.ok()) return tensor.status();
    all.pins[i] = {id, std::string(read[i].name)};
    all.tensors[i] = std::move(*tensor);
  }
  return all;
}

Json cell_json(const Explained& all, std::size_t operand, std::int64_t index) {
  const graph::Tensor& tensor = all.tensors[operand];
  return {{"pin", all.pins[operand].pin},
          {"index", coordinates(tensor.shape(), index)},
          {"value", graph::element_text(tensor, index)}};
}

// The spatial dimensions that the caller's tensors have.
Json tap_json(const Explained& all, const Term& term) {
  Json tap = Json::array();
  for (int dim = 3 - all.geometry.rank; dim < 3; ++dim) tap.push_back(term.tap[static_cast<std::size_t>(dim)]);
  return tap;
}

double product_of(const Explained& all, const Term& term) {
  return all.tensors[0].at(term.first) * all.tensors[1].at(term.second);
}

// With all its digits, as page files write elements.
Json exact_json(double number) {
  graph::Tensor one(number);
  return graph::element_text(one, 0);
}

Json terms_json(const Explained& all, const Terms& terms) {
  Json list = Json::array();
  for (const Term& term : terms.list) {
    list.push_back(Json{{"tap", tap_json(all, term)},
                        {"a", cell_json(all, 0, term.first)},
                        {"b", cell_json(all, 1, term.second)},
                        {"product", exact_json(product_of(all, term))}});
  }
  return list;
}

// Of all terms, also of those that are not listed.
Result<double> sum_of(const Explained& all, std::int64_t cell, const Terms& listed) {
  double sum = 0;
  for (std::int64_t from = 0; from < listed.total; from += kMostTerms) {
    const Result<Terms> part = terms_of(all.geometry, cell, from, kMostTerms);
    if (!part.ok()) return part.status();
    for (const Term& term : part->list) sum += product_of(all, term);
  }
  return sum;
}

}  // namespace

Result<std::string> explain_cell(PageRun& run, std::string_view text) {
  const Result<Body> body = Body::read(text, {"run", "node", "index", "from"});
  if (!body.ok()) return body.status();
  const Result<std::string> node = body->string("node");
  if (!node.ok()) return node.status();
  const Result<std::vector<std::int64_t>> index = body->integers("index");
  if (!index.ok()) return index.status();
  const Result<std::int64_t> from = body->has("from") ? body->integer("from") : 0;
  if (!from.ok()) return from.status();
  const Result<Explained> all = explained(run, *node);
  if (!all.ok()) return all.status();
  const std::int64_t cell = flat_index(all->result.shape(), *index);
  if (cell < 0) return refused_member("index", Json(*index).dump(), "a cell of " + all->result.shape().DebugString());
  const Result<Terms> terms = terms_of(all->geometry, cell, std::max<std::int64_t>(*from, 0), kMostTerms);
  if (!terms.ok()) return terms.status();
  const Result<double> sum = sum_of(*all, cell, *terms);
  if (!sum.ok()) return sum.status();
  const Json json = {{"result", graph::element_text(all->result, cell)},
                     {"engine", run.engine(*node)},
                     {"formula", formula(all->geometry.direction)},
                     {"terms", terms_json(*all, *terms)},
                     {"sum", exact_json(*sum)},
                     {"total", terms->total},
                     {"from", *from},
                     {"skipped", Json{{"padding", terms->skipped}}}};
  return json.dump();
}

}  // namespace convgrad::studio

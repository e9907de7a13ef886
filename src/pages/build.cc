// Pages to graphs and back, and what can be said of a page that is wrong in places.
#include <set>

#include "api/guard.h"
#include "pages/page_facts.h"
#include "pages/wiring.h"

namespace convgrad::graph {
namespace {

// Adds the nodes of a wiring to a graph, one by one, under their ids.
class Builder {
 public:
  Builder(const Wiring& wiring, Graph& graph) : wiring_(wiring), graph_(graph), built_(wiring.nodes.size(), nullptr) {}

  Node* node(int index) const { return built_[static_cast<std::size_t>(index)]; }

  convgrad::Status add(int index) {
    const WiredNode& wired = wiring_.nodes[static_cast<std::size_t>(index)];
    if (!wired.status.ok()) return wired.status;
    NodeSpec spec{.name = wired.page->id, .op = wired.page->op, .attrs = wired.page->attrs};
    for (std::size_t i = 0; i < wired.inputs.size(); ++i) {
      const PinSource& source = wired.inputs[i];
      if (node(source.node) == nullptr) return behind_wrong(wired, source.node, input_name(*wired.op, i));
      spec.inputs.push_back({node(source.node), source.output});
    }
    for (int source : wired.control_inputs) {
      if (node(source) == nullptr) return behind_wrong(wired, source, "^");
      spec.control_inputs.push_back(node(source));
    }
    add_value_type(*wired.op, spec.attrs);
    Result<Node*> made = graph_.add(std::move(spec));
    if (!made.ok()) return made.status();
    built_[static_cast<std::size_t>(index)] = *made;
    return {};
  }

 private:
  convgrad::Status behind_wrong(const WiredNode& wired, int source, const string& pin) const {
    const string& id = wiring_.nodes[static_cast<std::size_t>(source)].page->id;
    return at_node(refuse(wired.page->op, {.rule = Rule::graph_input,
                                           .argument = pin,
                                           .reason = concat("it waits for node ", shown(id), ", which is wrong"),
                                           .got = shown(id),
                                           .wanted = "a node that can be built"}),
                   wired.page->id);
  }

  const Wiring& wiring_;
  Graph& graph_;
  std::vector<Node*> built_;
};

// So that nodes which are added later get other names, also under sub-scopes.
void keep_names(const Scope& scope, const Page& page) {
  std::set<std::string_view> prefixes;
  for (const PageNode& node : page.nodes) {
    scope.WithOpName(node.id).GetUniqueNameForOp(node.op);
    const auto slash = node.id.find('/');
    if (slash != string::npos && slash > 0 && prefixes.insert(std::string_view(node.id).substr(0, slash)).second)
      static_cast<void>(scope.NewSubScope(node.id.substr(0, slash)));
  }
}

Result<PageGraph> build(const Page& page) {
  if (page.nodes.size() > kPageNodes)
    return refuse("page", {.rule = Rule::graph_file,
                           .argument = "nodes",
                           .reason = "the page has too many nodes",
                           .got = concat(page.nodes.size()),
                           .wanted = concat("at most ", kPageNodes)});
  const Wiring wiring = wire(page);
  CONVGRAD_RETURN_IF_ERROR(wiring.first_error());
  PageGraph made{Scope::NewRootScope(), {}, {}};
  Builder builder(wiring, *made.scope.graph());
  for (int index : wiring.order) CONVGRAD_RETURN_IF_ERROR(builder.add(index));
  keep_names(made.scope, page);
  for (std::size_t i = 0; i < page.nodes.size(); ++i)
    made.nodes.emplace(page.nodes[i].id, builder.node(static_cast<int>(i)));
  for (const PinSource& source : wiring.fetch) made.fetch.emplace_back(builder.node(source.node), source.output);
  return made;
}

std::vector<NodeReport> infer(const Page& page) {
  const Wiring wiring = wire(page);
  Graph graph;
  Builder builder(wiring, graph);
  std::vector<NodeReport> reports;
  for (const WiredNode& node : wiring.nodes) reports.push_back({.id = node.page->id, .status = node.status});
  for (int index : wiring.order) {
    NodeReport& report = reports[static_cast<std::size_t>(index)];
    report.status = builder.add(index);
    if (report.status.ok()) report.outputs = builder.node(index)->outputs();
  }
  for (std::size_t i = 0; i < reports.size(); ++i) {  // those behind a cycle
    if (reports[i].status.ok() && builder.node(static_cast<int>(i)) == nullptr)
      reports[i].status = builder.add(static_cast<int>(i));
  }
  for (const convgrad::Status& status : wiring.nowhere) reports.push_back({.id = status.node(), .status = status});
  return reports;
}

PageNode page_node(const Node& node) {
  PageNode made{.id = node.name(), .op = node.type_string()};
  for (const auto& [name, value] : node.attrs()) {
    const AttrSpec* spec = node.op().attr(name);
    if (spec->from_inputs || (spec->fallback && same_value(*spec->fallback, value))) continue;
    made.attrs.emplace(name, value);
  }
  return made;
}

void add_edges(const Node& node, Page& page) {
  const OpSpec& op = node.op();
  for (std::size_t i = 0; i < node.inputs().size(); ++i) {
    const Wire& wire = node.inputs()[i];
    page.edges.push_back({{wire.node->name(), wire.node->op().outputs[static_cast<std::size_t>(wire.index)].name},
                          {node.name(), input_name(op, i)}});
  }
  for (const Node* control : node.control_inputs()) page.edges.push_back({{control->name(), "^"}, {node.name(), "^"}});
}

}  // namespace

Result<PageGraph> build_page(const Page& page) {
  return guarded([&] { return build(page); });
}

std::vector<NodeReport> infer_page(const Page& page) {
  const auto reports = guarded([&]() -> Result<std::vector<NodeReport>> { return infer(page); });
  if (reports.ok()) return *reports;
  return {{.id = {}, .status = reports.status()}};
}

Page page_of(const Graph& graph) {
  Page page;
  for (const Node& node : graph.nodes()) {
    page.nodes.push_back(page_node(node));
    add_edges(node, page);
  }
  return page;
}

}  // namespace convgrad::graph

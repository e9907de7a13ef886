// The op table, made once from ops.inc.
#include <map>
#include <vector>

#include "graph/row.h"

namespace convgrad::graph {

#define CONVGRAD_GRAPH_OP(name) OpRow name##_row();
#include "graph/ops.inc"
#undef CONVGRAD_GRAPH_OP

namespace {

struct Table {
  std::vector<OpRow> rows = {
#define CONVGRAD_GRAPH_OP(name) name##_row(),
#include "graph/ops.inc"
#undef CONVGRAD_GRAPH_OP
  };
  std::vector<const OpSpec*> specs;
  std::map<std::string_view, const OpRow*> by_name;

  Table() {
    for (OpRow& row : rows) {
      row.spec.has_gradient = row.gradient != nullptr;
      specs.push_back(&row.spec);
      by_name.emplace(row.spec.name, &row);
    }
  }
};

const Table& table() {
  static const Table made;
  return made;
}

}  // namespace

std::span<const OpSpec* const> all_graph_ops() { return table().specs; }

const OpSpec* find_graph_op(std::string_view name) {
  const auto found = table().by_name.find(name);
  return found == table().by_name.end() ? nullptr : &found->second->spec;
}

const OpRow& row_of(const OpSpec& spec) { return *table().by_name.find(spec.name)->second; }

}  // namespace convgrad::graph

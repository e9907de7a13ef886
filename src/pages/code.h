// What the programs of all styles have in common: the nodes in order, names for them, literals.
#pragma once

#include <unordered_map>

#include "convgrad/graph/page.h"
#include "pages/refusals.h"

namespace convgrad::graph {

// A page that can be built, in the order of its wires, with an identifier a node: legal and unlike any keyword of C++
// and Python.
struct Program {
  PageGraph built;
  std::vector<const Node*> nodes = {};
  std::unordered_map<const Node*, string> names = {};

  const string& name(const Node* node) const { return names.at(node); }
};
// Refuses a page that is wrong, and one that fetches nothing.
Result<Program> program_of(const Page& page);

// Attributes that the node does not take from its inputs; with a default: those that differ from it.
std::vector<const AttrSpec*> written_attrs(const Node& node, bool with_default);
// The output pin of a wire, "output".
const string& pin_of(const Wire& wire);
// "id:output", as it is printed.
string label_of(const Output& output);

// Tensors of more elements are refused: they would be files, not programs. One value everywhere is short.
constexpr int64 kCodeElements = 65536;
convgrad::Status fits_code(const Node& node, const Tensor& tensor);
// Whether all elements have the bits of the first; false without elements.
bool is_constant(const Tensor& tensor);
// Sizes for a placeholder that is fed: 1 where they are not known.
Shape some_shape(const PartialTensorShape& shape);

// "1, 2, 3".
string comma_list(std::span<const int64> numbers);

Result<string> cpp_graph_code(const Program& program);
Result<string> cpp_eager_code(const Program& program);
struct PythonStyle {
  bool tensorflow = false;
};
Result<string> python_code(const Program& program, PythonStyle style);
// Of wrong pages too, with what is wrong.
string graphviz_code(const Page& page);

// In quotes for C++: everything but printable ASCII as an octal escape.
string cpp_quoted(std::string_view text);
// An element as a C++ literal of its type; 16-bit ones as float.
string cpp_element(const Tensor& tensor, int64 index);
// "DT_FLOAT".
string enumerator_of(DataType type);

}  // namespace convgrad::graph

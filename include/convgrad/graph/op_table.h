// The op table: what every op takes, gives and is for. Op classes, graph files, `convgrad ops`, palettes and
// reference pages are made from it.
#ifndef CONVGRAD_GRAPH_OP_TABLE_H_
#define CONVGRAD_GRAPH_OP_TABLE_H_

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "convgrad/graph/tensor.h"

namespace convgrad::graph {

// In the order of AttrValue's alternatives.
enum class AttrKind : int { boolean, integer, number, text, type, shape, tensor, integers };
CONVGRAD_API std::string_view name(AttrKind kind);

using AttrValue = std::variant<bool, int64, double, string, DataType, PartialTensorShape, Tensor, std::vector<int64>>;
inline AttrKind kind_of(const AttrValue& value) { return static_cast<AttrKind>(value.index()); }
using AttrMap = std::map<string, AttrValue, std::less<>>;

// The same kind and value; tensors by type, shape and bits.
CONVGRAD_API bool same_value(const AttrValue& a, const AttrValue& b);
// As a person reads it: [1,2,2,1], "SAME", float, [2,?].
CONVGRAD_API string to_text(const AttrValue& value);

struct AttrSpec {
  string name;
  AttrKind kind;
  string doc;
  std::optional<AttrValue> fallback = {};  // none: the caller must say it
  std::vector<string> choices = {};        // of a text; empty: any
  std::vector<DataType> types = {};        // of a type; empty: any
  bool from_inputs = false;                // a type that the inputs decide; nobody writes it

  CONVGRAD_API string setter() const;  // in the op's C++ class: DataFormat for data_format
};

struct PinSpec {
  string name;
  string type;  // a type attribute ("T"), or a type by name ("int32")
  string doc;
  bool list = false;      // any number of tensors of that type, one or more
  bool variable = false;  // a variable itself, not its value
};

struct OpSpec {
  string name;   // "Conv3DBackpropFilterV2"
  string group;  // of the palette
  string doc;    // one line
  std::vector<PinSpec> inputs;
  std::vector<PinSpec> outputs;
  std::vector<AttrSpec> attrs;  // those without fallback first, in the order of the constructor
  string class_name = {};       // of its C++ class, where TensorFlow calls it otherwise
  bool has_gradient = false;
  bool stateful = false;  // reads or writes a variable

  CONVGRAD_API const AttrSpec* attr(std::string_view name) const;
  const string& cpp_class() const { return class_name.empty() ? name : class_name; }
};

// In the order of the palette.
CONVGRAD_API std::span<const OpSpec* const> all_graph_ops();
CONVGRAD_API const OpSpec* find_graph_op(std::string_view name);
// Reads a text as the value of an attribute: "1,2,2,1" and "{1, 2, 2, 1}" for integers, "SAME", "true", "float",
// "[2][2]" or "2,2" for shapes. Refuses everything else with a sentence that names the attribute.
CONVGRAD_API Result<AttrValue> parse_attr(const OpSpec& op, std::string_view attr, std::string_view text);

}  // namespace convgrad::graph

#endif  // CONVGRAD_GRAPH_OP_TABLE_H_

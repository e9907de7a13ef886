// C++ literals, and the program of the graph API.
#include <cmath>
#include <limits>

#include "pages/attr_json.h"
#include "pages/code.h"

namespace convgrad::graph {
namespace {

std::string_view cpp_type(DataType type) {
  switch (type) {
    case DT_DOUBLE: return "double";
    case DT_INT32: return "int32";
    case DT_UINT8: return "uint8";
    case DT_INT16: return "int16";
    case DT_INT8: return "int8";
    case DT_INT64: return "int64";
    case DT_BOOL: return "bool";
    default: return "float";
  }
}

bool is_16_bit(DataType type) { return type == DT_HALF || type == DT_BFLOAT16; }

string class_of(const OpSpec& op) { return concat("ops::", op.cpp_class()); }

string shape_text(const PartialTensorShape& shape) {
  return shape.unknown_rank() ? string("PartialTensorShape()")
                              : concat("PartialTensorShape({", comma_list(shape.sizes()), "})");
}

// A floating-point number as a C++ literal.
string floating_text(double number, string digits, bool single) {
  const std::string_view limits = single ? "std::numeric_limits<float>::" : "std::numeric_limits<double>::";
  if (std::isnan(number)) return concat(limits, "quiet_NaN()");
  if (std::isinf(number)) return concat(number < 0 ? "-" : "", limits, "infinity()");
  if (digits.find_first_of(".e") == string::npos) digits += ".0";
  return single ? digits + "f" : digits;
}

template <class T>
string integer_text(T number, std::string_view type) {
  if (number == std::numeric_limits<T>::min() && std::numeric_limits<T>::is_signed)
    return concat("std::numeric_limits<", type, ">::min()");  // its digits alone are too large
  return std::to_string(number);
}

string elements_text(const Tensor& tensor) {
  string text;
  for (int64 i = 0; i < tensor.NumElements(); ++i) {
    if (i > 0) text += i % 16 == 0 ? ",\n       " : ", ";
    text += cpp_element(tensor, i);
  }
  return text;
}

class CppGraph {
 public:
  explicit CppGraph(const Program& program) : program_(program) {}

  Result<string> text() {
    out_ =
        "// Made from a page of convgrad.\n#include <convgrad/graph.h>\n\n#include <iostream>\n#include <limits>\n\n"
        "using namespace convgrad::graph;\n\nint main() {\n  Scope root = Scope::NewRootScope();\n";
    for (const Node* node : program_.nodes) CONVGRAD_RETURN_IF_ERROR(add(*node));
    run();
    return std::move(out_);
  }

 private:
  convgrad::Status add(const Node& node) {
    out_ += concat("  auto ", program_.name(&node), " = ");
    if (node.type_string() == "Const") return add_const(node);
    string arguments = scope_of(node), options;
    const OpSpec& op = node.op();
    for (std::size_t i = 0; i < op.inputs.size(); ++i)
      arguments += ", " + (op.inputs[i].list ? list_of(node, i) : source(node.inputs()[i]));
    for (const AttrSpec* attr : written_attrs(node, false)) {
      CONVGRAD_RETURN_IF_ERROR(fits_int(node, attr->name));
      arguments += ", " + attr_text(node, *attr);
    }
    for (const AttrSpec* attr : written_attrs(node, true)) {
      CONVGRAD_RETURN_IF_ERROR(fits_int(node, attr->name));
      options += concat(options.empty() ? ", " + class_of(op) + "::" : string("."), attr->setter(), "(",
                        attr_text(node, *attr), ")");
    }
    out_ += concat(class_of(op), "(", arguments, options, ");\n");
    if (node.type_string() == "Placeholder") placeholders_.push_back(&node);
    return {};
  }

  // The op classes take lists of int.
  static convgrad::Status fits_int(const Node& node, const string& attr) {
    const auto* numbers = std::get_if<std::vector<int64>>(&node.attrs().at(attr));
    if (numbers == nullptr) return {};
    for (int64 number : *numbers) {
      if (number == static_cast<int32>(number)) continue;
      return at_node(refuse(node.type_string(), {.rule = Rule::graph_attr,
                                                 .argument = attr,
                                                 .reason = "the number does not fit the int of the op's class",
                                                 .got = concat(number),
                                                 .wanted = "32 bits"}),
                     node.name());
    }
    return {};
  }

  string scope_of(const Node& node) const {
    string text = concat("root.WithOpName(", cpp_quoted(node.name()), ")");
    if (node.control_inputs().empty()) return text;
    string first;
    for (const Node* control : node.control_inputs())
      first += concat(first.empty() ? "" : ", ", "Operation(", program_.name(control), ".node())");
    return concat(text, ".WithControlDependencies(std::vector<Operation>{", first, "})");
  }

  string source(const Wire& wire) const {
    const string& name = program_.name(wire.node);
    return wire.node->num_outputs() == 1 ? name : concat(name, ".", pin_of(wire));
  }
  // Constants are outputs; an op class has its outputs as fields.
  string output(const Wire& wire) const {
    const string& name = program_.name(wire.node);
    return wire.node->type_string() == "Const" ? name : concat(name, ".", pin_of(wire));
  }

  string list_of(const Node& node, std::size_t first) const {
    string text;
    for (std::size_t i = first; i < node.inputs().size(); ++i)
      text += concat(text.empty() ? "" : ", ", output(node.inputs()[i]));
    return concat("OutputList{", text, "}");
  }

  static string attr_text(const Node& node, const AttrSpec& attr) {
    struct Text {
      string operator()(bool flag) const { return flag ? "true" : "false"; }
      string operator()(int64 number) const { return integer_text(number, "int64"); }
      string operator()(double number) const { return floating_text(number, number_text(number), true); }
      string operator()(const string& text) const { return cpp_quoted(text); }
      string operator()(DataType type) const { return enumerator_of(type); }
      string operator()(const PartialTensorShape& shape) const { return shape_text(shape); }
      string operator()(const Tensor& tensor) const {
        return concat("Input::Initializer(std::initializer_list<", cpp_type(tensor.dtype()), ">{",
                      elements_text(tensor), "}, TensorShape({", comma_list(tensor.shape().dim_sizes()), "})).tensor");
      }
      string operator()(const std::vector<int64>& numbers) const { return concat("{", comma_list(numbers), "}"); }
    };
    return std::visit(Text{}, node.attrs().at(attr.name));
  }

  convgrad::Status add_const(const Node& node) {
    const Tensor& value = std::get<Tensor>(node.attrs().at("value"));
    CONVGRAD_RETURN_IF_ERROR(fits_code(node, value));
    const string shape = concat("TensorShape({", comma_list(value.shape().dim_sizes()), "})"), scope = scope_of(node);
    if (value.NumElements() == 0) {
      out_ += concat("ops::Const(", scope, ", Tensor(", enumerator_of(value.dtype()), ", ", shape, "));\n");
      return {};
    }
    const bool same = is_constant(value);
    const string elements = same ? cpp_element(value, 0) : concat("{", elements_text(value), "}");
    if (is_16_bit(value.dtype()))
      out_ += concat("ops::ConstOf(", scope, ", Input::Initializer(", elements, ", ", shape, "), ",
                     enumerator_of(value.dtype()), ");\n");
    else
      out_ += concat("ops::Const<", cpp_type(value.dtype()), ">(", scope, ", ", elements, ", ", shape, ");\n");
    return {};
  }

  void run() {
    string fetches;
    for (const Output& fetch : program_.built.fetch)
      fetches += concat(fetches.empty() ? "" : ", ", output({fetch.node(), fetch.index()}));
    out_ += "\n  ClientSession session(root);\n  std::vector<Tensor> outputs;\n";
    if (!placeholders_.empty()) out_ += "  ClientSession::FeedType feeds;  // zeros: put your own values here\n";
    for (const Node* node : placeholders_)
      out_ += concat("  feeds.emplace(", program_.name(node), ", Tensor(", enumerator_of(node->output_type(0)),
                     ", TensorShape({", comma_list(some_shape(node->outputs().front().shape)), "})));\n");
    out_ +=
        concat("  Status status = session.Run(", placeholders_.empty() ? "" : "feeds, ", "{", fetches,
               "}, &outputs);\n", "  if (!status.ok()) {\n    std::cerr << status << \"\\n\";\n    return 1;\n  }\n");
    for (std::size_t i = 0; i < program_.built.fetch.size(); ++i)
      out_ += concat("  std::cout << ", cpp_quoted(label_of(program_.built.fetch[i]) + " "), " << outputs[", i,
                     "].DebugString(outputs[", i, "].NumElements()) << \"\\n\";\n");
    out_ += "}\n";
  }

  const Program& program_;
  std::vector<const Node*> placeholders_;
  string out_;
};

}  // namespace

string cpp_quoted(std::string_view text) {
  string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (byte >= 0x20 && byte < 0x7F && c != '?')
      out += c;
    else
      out += {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + (byte >> 3 & 7)),
              static_cast<char>('0' + (byte & 7))};
  }
  return out + '"';
}

string cpp_element(const Tensor& tensor, int64 index) {
  const Json json = element_json(tensor, index);
  if (const bool* flag = json.as<bool>()) return *flag ? "true" : "false";
  const DataType type = tensor.dtype();
  if (type == DT_DOUBLE || type == DT_FLOAT || is_16_bit(type))
    return floating_text(tensor.at(index), compact(json), type != DT_DOUBLE);
  const int64 number = *json.as<int64>();
  if (type == DT_INT64) return integer_text(number, "int64");
  return type == DT_INT32 ? integer_text(static_cast<int32>(number), "int32") : std::to_string(number);
}

string enumerator_of(DataType type) {
  string name = DataTypeString(type);
  for (char& letter : name) letter = static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
  return "DT_" + name;
}

Result<string> cpp_graph_code(const Program& program) { return CppGraph(program).text(); }

}  // namespace convgrad::graph

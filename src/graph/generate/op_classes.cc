// Prints convgrad/graph/ops.h: a class for every op of the table, in the form of TensorFlow's generated headers.
#include <fstream>
#include <sstream>

#include "convgrad/graph/op_table.h"

namespace convgrad::graph {
namespace {

// Attributes that callers write: those without a default are arguments, the others fields of Attrs.
std::vector<const AttrSpec*> written(const OpSpec& op, bool required) {
  std::vector<const AttrSpec*> attrs;
  for (const AttrSpec& attr : op.attrs) {
    if (!attr.from_inputs && attr.fallback.has_value() != required) attrs.push_back(&attr);
  }
  return attrs;
}

struct CppType {
  const char* argument;
  const char* field;
};
CppType cpp_type(AttrKind kind) {
  switch (kind) {
    case AttrKind::boolean: return {"bool", "bool"};
    case AttrKind::integer: return {"int64", "int64"};
    case AttrKind::number: return {"float", "float"};
    case AttrKind::text: return {"StringPiece", "string"};
    case AttrKind::type: return {"DataType", "DataType"};
    case AttrKind::shape: return {"const PartialTensorShape&", "PartialTensorShape"};
    case AttrKind::tensor: return {"const Tensor&", "Tensor"};
    case AttrKind::integers: return {"const gtl::ArraySlice<int>&", "std::vector<int>"};
  }
  return {"", ""};
}

string default_text(const AttrSpec& attr) {
  if (attr.kind == AttrKind::shape) return "{}";
  if (attr.kind == AttrKind::type) {
    string name = to_text(*attr.fallback);
    for (char& letter : name) letter = static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
    return "DT_" + name;
  }
  string text = to_text(*attr.fallback);
  if (attr.kind == AttrKind::integers) text.front() = '{', text.back() = '}';
  if (attr.kind == AttrKind::number) text += text.find_first_of(".e") == string::npos ? ".0f" : "f";
  return text;
}

// One class, line by line.
class ClassText {
 public:
  explicit ClassText(const OpSpec& op)
      : op_(op), name_(op.cpp_class()), optional_(written(op, false)) {}

  string text() {
    out_ << "// " << op_.doc << "\n";
    for (const PinSpec& pin : op_.inputs) out_ << "// " << pin.name << ": " << pin.doc << "\n";
    for (const AttrSpec* attr : written(op_, true)) out_ << "// " << attr->name << ": " << attr->doc << "\n";
    out_ << "class " << name_ << " {\n public:\n";
    if (!optional_.empty()) attrs_struct();
    constructors();
    conversions();
    for (const AttrSpec* attr : optional_)
      out_ << "  static Attrs " << attr->setter() << "(" << cpp_type(attr->kind).argument << " x) { return Attrs()."
           << attr->setter() << "(x); }\n";
    out_ << "\n  Operation operation;\n";
    for (const PinSpec& pin : op_.outputs) out_ << "  Output " << pin.name << ";\n";
    out_ << "};\n";
    if (name_ != op_.name) out_ << "using " << op_.name << " = " << name_ << ";\n";
    return out_.str();
  }

 private:
  void attrs_struct() {
    out_ << "  struct Attrs {\n";
    for (const AttrSpec* attr : optional_) {
      const string value = attr->kind == AttrKind::integers ? "detail::list(x)"
                           : attr->kind == AttrKind::text   ? "string(x)"
                                                            : "x";
      out_ << "    // " << attr->doc << "\n    [[nodiscard]] Attrs " << attr->setter() << "("
           << cpp_type(attr->kind).argument << " x) const {\n      Attrs changed = *this;\n      changed." << attr->name
           << "_ = " << value << ";\n      return changed;\n    }\n";
    }
    for (const AttrSpec* attr : optional_)
      out_ << "    " << cpp_type(attr->kind).field << " " << attr->name << "_ = " << default_text(*attr) << ";\n";
    out_ << "  };\n";
  }

  string parameters() const {
    string text = "const Scope& scope";
    for (const PinSpec& pin : op_.inputs) text += (pin.list ? ", InputList " : ", Input ") + pin.name;
    for (const AttrSpec* attr : written(op_, true))
      text += string(", ") + cpp_type(attr->kind).argument + " " + attr->name;
    return text;
  }

  string inputs() const {
    if (op_.inputs.size() == 1 && op_.inputs[0].list) return op_.inputs[0].name + ".inputs()";
    string text = "{";
    for (const PinSpec& pin : op_.inputs) text += (text.size() > 1 ? ", " : "") + pin.name;
    return text + "}";
  }

  string attr_map() const {
    string text = "{";
    const auto entry = [&](const string& name, const string& value) {
      text += string(text.size() > 1 ? ", " : "") + "{\"" + name + "\", detail::attr_of(" + value + ")}";
    };
    for (const AttrSpec* attr : written(op_, true)) entry(attr->name, attr->name);
    for (const AttrSpec* attr : optional_) entry(attr->name, "attrs." + attr->name + "_");
    return text + "}";
  }

  void constructors() {
    if (!optional_.empty()) {
      out_ << "  " << name_ << "(" << parameters() << ")\n      : " << name_ << "(scope";
      for (const PinSpec& pin : op_.inputs) out_ << ", " << pin.name;
      for (const AttrSpec* attr : written(op_, true)) out_ << ", " << attr->name;
      out_ << ", Attrs()) {}\n";
    }
    out_ << "  " << name_ << "(" << parameters() << (optional_.empty() ? ")" : ", const Attrs& attrs)")
         << "\n      : operation(scope.add(\"" << op_.name << "\", " << inputs() << ", " << attr_map() << "))";
    for (std::size_t i = 0; i < op_.outputs.size(); ++i)
      out_ << ",\n        " << op_.outputs[i].name << "(operation, " << i << ")";
    out_ << " {}\n";
  }

  void conversions() {
    if (op_.outputs.size() == 1)
      out_ << "  operator Output() const { return " << op_.outputs[0].name << "; }  // NOLINT: as in TensorFlow\n"
           << "  operator Input() const { return " << op_.outputs[0].name << "; }   // NOLINT\n";
    out_ << "  Node* node() const { return operation.node(); }\n";
  }

  const OpSpec& op_;
  string name_;
  std::vector<const AttrSpec*> optional_;
  std::ostringstream out_;
};

string header() {
  string text =
      "// The op classes, made from the op table when the library is built.\n"
      "#ifndef CONVGRAD_GRAPH_OPS_H_\n#define CONVGRAD_GRAPH_OPS_H_\n\n"
      "#include \"convgrad/graph/op_class.h\"\n\nnamespace convgrad::graph::ops {\n\n";
  for (const OpSpec* op : all_graph_ops()) {
    if (op->name != "Const") text += ClassText(*op).text() + "\n";  // a function of const_op.h
  }
  return text + "}  // namespace convgrad::graph::ops\n\n#endif  // CONVGRAD_GRAPH_OPS_H_\n";
}

}  // namespace
}  // namespace convgrad::graph

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::ofstream file(argv[1]);
  file << convgrad::graph::header();
  return file.good() ? 0 : 1;
}

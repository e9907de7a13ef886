// Python by the raw ops of convgrad or of TensorFlow, which have the same names.
#include <algorithm>

#include "pages/attr_json.h"
#include "pages/code.h"

namespace convgrad::graph {
namespace {

// Ours alone.
constexpr std::string_view kNotInTensorFlow[] = {"BroadcastToShapeOf", "MeanGrad", "SumGrad", "SumToShapeOf"};

std::string_view numpy_name(DataType type) {
  switch (type) {
    case DT_FLOAT: return "float32";
    case DT_DOUBLE: return "float64";
    case DT_INT32: return "int32";
    case DT_UINT8: return "uint8";
    case DT_INT16: return "int16";
    case DT_INT8: return "int8";
    case DT_INT64: return "int64";
    case DT_BOOL: return "bool";
    case DT_HALF: return "float16";
    default: return "bfloat16";
  }
}

// JSON's words in Python.
string python_text(const Json& json) {
  if (const bool* flag = json.as<bool>()) return *flag ? "True" : "False";
  return json.as<std::monostate>() != nullptr ? string("None") : compact(json);
}

string python_element(const Tensor& tensor, int64 index) {
  const Json json = element_json(tensor, index);
  const string* word = json.as<string>();
  if (word == nullptr) return python_text(json);
  return word->starts_with("NaN") ? string("float(\"nan\")") : concat("float(", quoted(*word), ")");
}

// TensorFlow's raw ops of volumes have no explicit paddings.
bool pads_volume(const Node& node) {
  const auto padding = node.attrs().find("padding");
  return node.type_string().starts_with("Conv3D") && same_value(padding->second, AttrValue(string("EXPLICIT")));
}

class Python {
 public:
  Python(const Program& program, PythonStyle style) : program_(program), tensorflow_(style.tensorflow) {}

  Result<string> text() {
    const bool bfloat16 =
        !tensorflow_ && std::any_of(program_.nodes.begin(), program_.nodes.end(), [](const Node* node) {
          return node->num_outputs() > 0 && node->output_type(0) == DT_BFLOAT16;
        });
    const bool nn =
        std::any_of(program_.nodes.begin(), program_.nodes.end(), [](const Node* node) { return pads_volume(*node); });
    out_ = "# Made from a page of convgrad.\n";
    out_ += tensorflow_ ? "import tensorflow as tf\n\n" : "import numpy as np\n";
    if (!tensorflow_) out_ += nn ? "from convgrad import nn, raw_ops\n" : "from convgrad import raw_ops\n";
    if (!tensorflow_) out_ += bfloat16 ? "import ml_dtypes\n\n" : "\n";
    for (const Node* node : program_.nodes) CONVGRAD_RETURN_IF_ERROR(add(*node));
    for (const Output& fetch : program_.built.fetch)
      out_ += concat("print(", quoted(label_of(fetch)), ", ", source({fetch.node(), fetch.index()}), ")\n");
    return std::move(out_);
  }

 private:
  string type_text(DataType type) const {
    if (tensorflow_) return concat("tf.", numpy_name(type));
    return type == DT_BFLOAT16 ? "ml_dtypes.bfloat16" : type == DT_BOOL ? "np.bool_" : concat("np.", numpy_name(type));
  }

  string source(const Wire& wire) const {
    const string& name = program_.name(wire.node);
    return wire.node->num_outputs() == 1 ? name : concat(name, ".", pin_of(wire));
  }

  convgrad::Status add(const Node& node) {
    const string& op = node.type_string();
    out_ += concat(program_.name(&node), " = ");
    if (op == "Const") return add_const(node);
    if (op == "Placeholder") {
      out_ += concat(zeros(some_shape(node.outputs().front().shape), node.output_type(0)),
                     "  # a placeholder: put your own values here\n");
      return {};
    }
    CONVGRAD_RETURN_IF_ERROR(can_say(node));
    if (pads_volume(node)) return add_padded_volume(node);
    string arguments;
    for (std::size_t i = 0; i < node.op().inputs.size(); ++i) arguments += argument(node, i);
    for (const bool with_default : {false, true}) {
      for (const AttrSpec* attr : written_attrs(node, with_default)) arguments += attr_argument(node, *attr);
    }
    if (!arguments.empty()) arguments.resize(arguments.size() - 2);
    out_ += concat(tensorflow_ ? "tf.raw_ops." : "raw_ops.", op, "(", arguments, ")\n");
    return {};
  }

  // The functions of nn take paddings as pairs, in 3-D too.
  convgrad::Status add_padded_volume(const Node& node) {
    const string& op = node.type_string();
    const auto in = [&](std::size_t pin) { return source(node.inputs()[pin]); };
    const auto list = [&](std::string_view attr) -> const std::vector<int64>& {
      return std::get<std::vector<int64>>(node.attrs().find(attr)->second);
    };
    out_ += op == "Conv3D"                   ? concat("nn.conv3d(", in(0), ", ", in(1))
            : op == "Conv3DBackpropFilterV2" ? concat("nn.conv3d_backprop_filter_v2(", in(0), ", ", in(1), ", ", in(2))
                                             : concat("nn.conv3d_transpose(", in(2), ", ", in(1), ", ", in(0));
    string pairs;
    for (std::size_t i = 0; i + 1 < list("explicit_paddings").size(); i += 2)
      pairs += concat(i == 0 ? "[" : ", [", list("explicit_paddings")[i], ", ", list("explicit_paddings")[i + 1], "]");
    out_ += concat(", strides=[", comma_list(list("strides")), "], padding=[", pairs,
                   "], data_format=", quoted(std::get<string>(node.attrs().at("data_format"))), ", dilations=[",
                   comma_list(list("dilations")), "])\n");
    return {};
  }

  string argument(const Node& node, std::size_t pin) const {
    const PinSpec& spec = node.op().inputs[pin];
    if (!spec.list) return concat(spec.name, "=", source(node.inputs()[pin]), ", ");
    string list;
    for (std::size_t i = pin; i < node.inputs().size(); ++i)
      list += concat(list.empty() ? "" : ", ", source(node.inputs()[i]));
    return concat(spec.name, "=[", list, "], ");
  }

  string attr_argument(const Node& node, const AttrSpec& attr) const {
    const AttrValue& value = node.attrs().at(attr.name);
    if (const auto* type = std::get_if<DataType>(&value)) return concat(attr.name, "=", type_text(*type), ", ");
    const PageFolder nowhere;
    TensorFiles files(nowhere);
    const Result<Json> json = json_of_attr(value, "", files);
    return concat(attr.name, "=", json.ok() ? python_text(*json) : string("None"), ", ");
  }

  convgrad::Status can_say(const Node& node) const {
    const string& op = node.type_string();
    if (node.op().stateful)
      return cannot(node, concat(op, " keeps a variable, which raw ops do not"), "ops without variables");
    if (!tensorflow_) return {};
    if (std::find(std::begin(kNotInTensorFlow), std::end(kNotInTensorFlow), op) != std::end(kNotInTensorFlow))
      return cannot(node, concat("TensorFlow has no op ", op), "an op of TensorFlow");
    if (pads_volume(node))
      return cannot(node, concat("TensorFlow's ", op, " takes no explicit paddings"), "SAME or VALID");
    return {};
  }

  static convgrad::Status cannot(const Node& node, string reason, string wanted) {
    return at_node(refuse("page", {.rule = Rule::op_name,
                                   .argument = "op",
                                   .reason = std::move(reason),
                                   .got = node.type_string(),
                                   .wanted = std::move(wanted),
                                   .code = StatusCode::unimplemented}),
                   node.name());
  }

  string zeros(const Shape& shape, DataType type) const {
    return concat(tensorflow_ ? "tf" : "np", ".zeros([", comma_list(shape), "], dtype=", type_text(type), ")");
  }

  convgrad::Status add_const(const Node& node) {
    const Tensor& value = std::get<Tensor>(node.attrs().at("value"));
    CONVGRAD_RETURN_IF_ERROR(fits_code(node, value));
    const string shape = concat("[", comma_list(value.shape().dim_sizes()), "]"), type = type_text(value.dtype());
    if (value.NumElements() == 0) {
      out_ += zeros(value.shape().dim_sizes(), value.dtype()) + "\n";
    } else if (is_constant(value)) {
      const string element = python_element(value, 0);
      out_ += tensorflow_ ? concat("tf.constant(", element, ", dtype=", type, ", shape=", shape, ")\n")
                          : concat("np.full(", shape, ", ", element, ", dtype=", type, ")\n");
    } else {
      string list;
      for (int64 i = 0; i < value.NumElements(); ++i)
        list += (i == 0 ? "" : i % 16 == 0 ? ",\n    " : ", ") + python_element(value, i);
      out_ += tensorflow_ ? concat("tf.constant([", list, "], dtype=", type, ", shape=", shape, ")\n")
                          : concat("np.array([", list, "], dtype=", type, ").reshape(", shape, ")\n");
    }
    return {};
  }

  const Program& program_;
  const bool tensorflow_;
  string out_;
};

}  // namespace

Result<string> python_code(const Program& program, PythonStyle style) { return Python(program, style).text(); }

}  // namespace convgrad::graph

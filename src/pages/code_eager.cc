// The program of the eager calls: constants and convolutions.
#include <algorithm>

#include "convgrad/problem.h"
#include "pages/code.h"

namespace convgrad::graph {
namespace {

// An op that has an eager call. The number of the input that is a list of sizes, or whose shape is one.
struct EagerCall {
  std::string_view op, call;
  int sizes = -1;
  bool of_tensor = false;
};
constexpr EagerCall kCalls[] = {
    {"Conv2D", "conv2d"},
    {"Conv3D", "conv3d"},
    {"Conv2DBackpropFilter", "conv2d_backprop_filter", 1},
    {"Conv2DBackpropInput", "conv2d_backprop_input", 0},
    {"Conv2DBackpropFilterV2", "conv2d_backprop_filter", 1, true},
    {"Conv2DBackpropInputV2", "conv2d_backprop_input", 0, true},
    {"Conv3DBackpropFilterV2", "conv3d_backprop_filter_v2", 1},
    {"Conv3DBackpropInputV2", "conv3d_backprop_input_v2", 0},
};

const EagerCall* call_of(const Node& node) {
  const auto found = std::find_if(std::begin(kCalls), std::end(kCalls),
                                  [&](const EagerCall& call) { return call.op == node.type_string(); });
  return found == std::end(kCalls) ? nullptr : found;
}

const std::vector<int64>& integers_of(const Node& node, std::string_view attr) {
  return std::get<std::vector<int64>>(node.attrs().find(attr)->second);
}
const string& text_of(const Node& node, std::string_view attr) {
  return std::get<string>(node.attrs().find(attr)->second);
}

class CppEager {
 public:
  explicit CppEager(const Program& program) : program_(program) {}

  Result<string> text() {
    find_needed();
    CONVGRAD_RETURN_IF_ERROR(all_have_calls());
    out_ =
        "// Made from a page of convgrad.\n#include <convgrad/conv.h>\n\n#include <iostream>\n#include <limits>\n"
        "#include <vector>\n\nusing convgrad::Padding, convgrad::Shape, convgrad::Tensor;\n\nint main() try {\n";
    for (const Node* node : program_.nodes) {
      if (!needed_.contains(node)) continue;
      CONVGRAD_RETURN_IF_ERROR(node->type_string() == "Const" ? add_const(*node) : add_call(*node));
    }
    for (const Output& fetch : program_.built.fetch) {
      const string& name = program_.name(fetch.node());
      out_ += concat("  std::cout << ", cpp_quoted(label_of(fetch) + " "), " << ", name, ".to_text(", name,
                     ".size()) << \"\\n\";\n");
    }
    out_ += "} catch (const convgrad::Error& error) {\n  std::cerr << error.what() << \"\\n\";\n  return 1;\n}\n";
    return std::move(out_);
  }

 private:
  // What fetches need; sizes that are known stand in the calls.
  void find_needed() {
    for (const Output& fetch : program_.built.fetch) needed_.emplace(fetch.node(), true);
    for (auto node = program_.nodes.rbegin(); node != program_.nodes.rend(); ++node) {
      if (!needed_.contains(*node)) continue;
      const EagerCall* call = call_of(**node);
      for (int i = 0; i < (*node)->num_inputs(); ++i) {
        if (call == nullptr || call->of_tensor || i != call->sizes)
          needed_.emplace((*node)->inputs()[static_cast<std::size_t>(i)].node, true);
      }
    }
  }

  convgrad::Status all_have_calls() const {
    for (const Node* node : program_.nodes) {
      if (!needed_.contains(node) || call_of(*node) != nullptr) continue;
      const bool constant = node->type_string() == "Const";
      if (constant && eager_dtype(node->output_type(0))) continue;
      const string what =
          constant ? concat("constants of ", DataTypeString(node->output_type(0))) : node->type_string();
      return at_node(refuse("page", {.rule = Rule::op_name,
                                     .argument = "op",
                                     .reason = concat("there is no eager call for ", what),
                                     .got = what,
                                     .wanted = "constants and convolutions; other ops as a program of the graph API",
                                     .code = StatusCode::unimplemented}),
                     node->name());
    }
    return {};
  }

  static string element(const Tensor& tensor, int64 index) {
    const string digits = cpp_element(tensor, index);
    if (tensor.dtype() == DT_HALF) return concat("convgrad::Half::from(", digits, ")");
    return tensor.dtype() == DT_BFLOAT16 ? concat("convgrad::BFloat16::from(", digits, ")") : digits;
  }

  static std::string_view type_of(const Tensor& tensor) {
    switch (tensor.dtype()) {
      case DT_HALF: return "convgrad::Half";
      case DT_BFLOAT16: return "convgrad::BFloat16";
      case DT_DOUBLE: return "double";
      case DT_INT32: return "std::int32_t";
      default: return "float";
    }
  }

  convgrad::Status add_const(const Node& node) {
    const Tensor& value = std::get<Tensor>(node.attrs().at("value"));
    CONVGRAD_RETURN_IF_ERROR(fits_code(node, value));
    string elements;
    if (is_constant(value)) {
      elements = concat("(", value.NumElements(), ", ", element(value, 0), ")");
    } else {
      for (int64 i = 0; i < value.NumElements(); ++i)
        elements += (i == 0 ? "" : i % 16 == 0 ? ",\n       " : ", ") + element(value, i);
      elements = concat("{", elements, "}");
    }
    out_ +=
        concat("  Tensor ", program_.name(&node), " = Tensor::from<", type_of(value), ">(Shape{",
               comma_list(value.shape().dim_sizes()), "}, std::vector<", type_of(value), ">", elements, ").value();\n");
    return {};
  }

  convgrad::Status add_call(const Node& node) {
    const EagerCall& call = *call_of(node);
    string arguments;
    for (int i = 0; i < node.num_inputs(); ++i) {
      const Wire& wire = node.inputs()[static_cast<std::size_t>(i)];
      if (i != call.sizes) {
        arguments += program_.name(wire.node) + ", ";
      } else if (call.of_tensor) {
        arguments += program_.name(wire.node) + ".shape(), ";
      } else {
        const Result<string> sizes = sizes_text(node, wire);
        if (!sizes.ok()) return sizes.status();
        arguments += *sizes + ", ";
      }
    }
    out_ += concat("  Tensor ", program_.name(&node), " = convgrad::", call.call, "(", arguments, options_of(node),
                   ").value();\n");
    return {};
  }

  static Result<string> sizes_text(const Node& node, const Wire& wire) {
    const std::optional<Tensor>& value = wire.node->outputs()[static_cast<std::size_t>(wire.index)].value;
    if (!value)
      return at_node(refuse("page", {.rule = Rule::op_name,
                                     .argument = "sizes",
                                     .reason = "the eager call wants sizes that are known before it runs",
                                     .got = concat("an output of ", wire.node->type_string()),
                                     .wanted = "a constant",
                                     .code = StatusCode::unimplemented}),
                     node.name());
    std::vector<int64> sizes;
    for (int64 i = 0; i < value->NumElements(); ++i) sizes.push_back(static_cast<int64>(value->at(i)));
    return concat("Shape{", comma_list(sizes), "}");
  }

  static string options_of(const Node& node) {
    const string& padding = text_of(node, "padding");
    string text = concat("{.strides = {", comma_list(integers_of(node, "strides")), "}, .padding = Padding::");
    if (padding == "EXPLICIT")
      text += concat("explicit_pairs({", comma_list(integers_of(node, "explicit_paddings")), "})");
    else
      text += padding == "SAME" ? "same()" : "valid()";
    for (const AttrSpec* attr : written_attrs(node, true)) {
      if (attr->name == "dilations")
        text += concat(", .dilations = {", comma_list(integers_of(node, "dilations")), "}");
    }
    if (const string& format = text_of(node, "data_format"); format.starts_with("NC"))
      text += concat(", .data_format = ", cpp_quoted(format));
    return text + "}";
  }

  const Program& program_;
  std::unordered_map<const Node*, bool> needed_;
  string out_;
};

}  // namespace

Result<string> cpp_eager_code(const Program& program) { return CppEager(program).text(); }

}  // namespace convgrad::graph

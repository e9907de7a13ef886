// A page as enuSpace reads it.
#include "api/guard.h"
#include "pages/attr_json.h"
#include "pages/code.h"
#include "pages/enuspace.h"
#include "pages/unicode.h"
#include "pages/wiring.h"

namespace convgrad::graph {
namespace {

// Its name for a type of Const pins; empty for those that want a Const_ex.
std::string_view host_type(DataType type) {
  switch (type) {
    case DT_FLOAT: return "float";
    case DT_DOUBLE: return "double";
    case DT_INT32: return "int";
    case DT_BOOL: return "bool";
    default: return "";
  }
}

string brackets(const Shape& shape) {
  string text;
  for (int64 size : shape) text += concat("[", size, "]");
  return text;
}

string elements_text(const Tensor& tensor) {
  string text;
  for (int64 i = 0; i < tensor.NumElements(); ++i) {
    const Json json = element_json(tensor, i);
    const string* word = json.as<string>();
    if (i > 0) text += ",";
    text += word == nullptr ? compact(json) : word->starts_with("NaN") ? "nan" : *word == "Infinity" ? "inf" : "-inf";
  }
  return text;
}

string attr_text(const AttrValue& value) {
  if (const auto* text = std::get_if<string>(&value)) return *text;
  if (const auto* type = std::get_if<DataType>(&value)) return enumerator_of(*type);
  if (const auto* shape = std::get_if<PartialTensorShape>(&value))
    return shape->unknown_rank() ? "" : brackets(shape->sizes());
  if (const auto* numbers = std::get_if<std::vector<int64>>(&value)) return comma_list(*numbers);
  return to_text(value);
}

struct Interface {
  std::string_view direction, type, interface;
};

Json pin_json(std::string_view name, const Interface& interface) {
  Json json = Json::object();
  json.add("pin-name", name);
  json.add("pin-type", interface.direction);
  json.add("pin-save", "text");
  json.add("pin-datatype", interface.type);
  json.add("pin-interface", interface.interface);
  return json;
}

Json typed_pin(std::string_view name, std::string_view interface, string text) {
  Json json = pin_json(name, {"const", "string", interface});
  json.add("pin-initial", std::move(text));
  return json;
}

class EnuWriter {
 public:
  explicit EnuWriter(const Wiring& wiring) : wiring_(wiring), readers_(wiring.nodes.size()) {}

  Result<string> text() {
    for (const WiredNode& node : wiring_.nodes) CONVGRAD_RETURN_IF_ERROR(can_write(node));
    for (std::size_t i = 0; i < wiring_.nodes.size(); ++i) {
      for (std::size_t k = 0; k < wiring_.nodes[i].inputs.size(); ++k)
        readers_[static_cast<std::size_t>(wiring_.nodes[i].inputs[k].node)].push_back({static_cast<int>(i), k});
    }
    Json objects = Json::list();
    for (int index : wiring_.order) objects.add(block_json(index));
    objects.add(session_json());
    Json json = Json::object();
    json.add("object", std::move(objects));
    const string text = laid_out(json, 2);
    if (bad_utf8(text) == string::npos) return to_utf16(text);
    return refuse("enuSpace", {.rule = Rule::graph_file,
                               .argument = "id",
                               .reason = "an id or text of the page is not UTF-8",
                               .got = "other bytes",
                               .wanted = "UTF-8"});
  }

 private:
  struct Reader {
    int node;
    std::size_t input;
  };

  const WiredNode& at(int node) const { return wiring_.nodes[static_cast<std::size_t>(node)]; }

  static convgrad::Status cannot(const WiredNode& node, std::string_view argument, string reason, string got) {
    return at_node(refuse("enuSpace", {.rule = Rule::graph_file,
                                       .argument = argument,
                                       .reason = std::move(reason),
                                       .got = std::move(got),
                                       .wanted = "what its page files can say",
                                       .code = StatusCode::unimplemented}),
                   node.page->id);
  }

  static convgrad::Status can_write(const WiredNode& node) {
    if (!node.control_inputs.empty())
      return cannot(node, "^", "enuSpace has no control dependencies", "a control dependency");
    for (const auto& [name, value] : node.page->attrs) {
      const AttrSpec* spec = node.op->attr(name);
      if (spec == nullptr) return at_node(unknown_attr(*node.op, name), node.page->id);
      const auto* tensor = std::get_if<Tensor>(&value);
      if (tensor != nullptr && (node.op->name != "Const" || !tensor->IsInitialized() || tensor->dtype() == DT_HALF))
        return cannot(node, name, "enuSpace makes no such tensor from a text", DataTypeString(tensor->dtype()));
      const auto* text = std::get_if<string>(&value);
      if (text != nullptr && text->find_first_of("=;{}\r\n\t ") != string::npos)
        return cannot(node, name, "a text with '=', ';', braces or blanks has no form in attrs", shown(*text));
    }
    return {};
  }

  Json block_json(int index) const {
    const WiredNode& node = at(index);
    const Tensor* value = node.op->name == "Const" ? value_of(node) : nullptr;
    const bool typed = value != nullptr && host_type(value->dtype()).empty();
    Json json = Json::object(), inputs = Json::list(), outputs = Json::list();
    inputs.add(pin_json("Scope", {"input", "string", "Scope"}));
    if (value != nullptr)
      add_value(*value, inputs);
    else
      add_inputs(node, inputs);
    add_outputs(index, outputs);
    json.add("symbol-name", concat("#", typed ? kEnuTypedConst : std::string_view(node.op->name)));
    json.add("id", node.page->id);
    json.add("input", std::move(inputs));
    json.add("output", std::move(outputs));
    return json;
  }

  static const Tensor* value_of(const WiredNode& node) {
    const auto found = node.page->attrs.find("value");
    return found == node.page->attrs.end() ? nullptr : std::get_if<Tensor>(&found->second);
  }

  static void add_value(const Tensor& value, Json& inputs) {
    const std::string_view type = host_type(value.dtype());
    Json& pin = inputs.add(pin_json("val", {"const", type.empty() ? "string" : type, "Input::Initializer"}));
    pin.add("pin-shape", brackets(value.shape().dim_sizes()));
    pin.add("pin-initial", elements_text(value));
    if (type.empty()) inputs.add(typed_pin("dtype", "DataType", enumerator_of(value.dtype())));
  }

  void add_source(Json& pin, const PinSource& source) const {
    const WiredNode& from = at(source.node);
    add_link(pin, from, from.op->outputs[static_cast<std::size_t>(source.output)].name, "Output");
  }

  static void add_link(Json& pin, const WiredNode& other, const string& name, std::string_view interface) {
    pin.add("in-symbol-name", "#" + other.op->name);
    pin.add("in-symbol-id", other.page->id);
    pin.add("in-symbol-pin-name", name);
    pin.add("in-symbol-pin-interface", interface);
  }

  void add_inputs(const WiredNode& node, Json& inputs) const {
    const OpSpec& op = *node.op;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const PinSpec& spec = op.inputs[std::min(i, op.inputs.size() - 1)];
      add_source(inputs.add(pin_json(spec.name, {"input", "string", spec.list ? "InputList" : "Input"})),
                 node.inputs[i]);
    }
    string options;
    for (const auto& [name, value] : node.page->attrs) {
      const AttrSpec& spec = *op.attr(name);
      if (spec.from_inputs) continue;
      if (!spec.fallback)
        inputs.add(typed_pin(name, graph::name(spec.kind), attr_text(value)));
      else if (!same_value(*spec.fallback, value))
        options += concat(name, "_ = ", in_braces(spec, value), ";");
    }
    if (!options.empty()) inputs.add(typed_pin("attrs", concat(op.name, "::Attrs"), options));
  }

  static string in_braces(const AttrSpec& spec, const AttrValue& value) {
    return spec.kind == AttrKind::integers ? concat("{", attr_text(value), "}") : attr_text(value);
  }

  // An output stands there once a reader, with the reader's name, and once when it has none.
  void add_outputs(int index, Json& outputs) const {
    const WiredNode& node = at(index);
    for (std::size_t k = 0; k < node.op->outputs.size(); ++k) {
      const string& name = node.op->outputs[k].name;
      bool read = false;
      for (const Reader& reader : readers_[static_cast<std::size_t>(index)]) {
        const WiredNode& other = at(reader.node);
        if (other.inputs[reader.input].output != static_cast<int>(k)) continue;
        const PinSpec& spec = other.op->inputs[std::min(reader.input, other.op->inputs.size() - 1)];
        add_link(outputs.add(pin_json(name, {"output", "string", "Output"})), other, spec.name, "Input");
        read = true;
      }
      if (!read) outputs.add(pin_json(name, {"output", "string", "Output"}));
      outputs.add(pin_json("result_" + name, {"output", "double", ""}));
    }
  }

  Json session_json() const {
    Json json = Json::object(), inputs = Json::list();
    inputs.add(pin_json("Scope", {"input", "string", "Scope"}));
    for (const PinSource& fetch : wiring_.fetch)
      add_source(inputs.add(pin_json("fetch_outputs", {"input", "string", "std::vector<Output>"})), fetch);
    json.add("symbol-name", concat("#", kEnuSession));
    json.add("id", free_id());
    json.add("input", std::move(inputs));
    json.add("output", Json::list());
    return json;
  }

  string free_id() const {
    string id = "session";
    for (int number = 1; wiring_.by_id.contains(id); ++number) id = concat("session_", number);
    return id;
  }

  const Wiring& wiring_;
  std::vector<std::vector<Reader>> readers_;
};

}  // namespace

Result<string> page_to_enuspace(const Page& page) {
  return guarded([&]() -> Result<string> {
    const Wiring wiring = wire(page);
    CONVGRAD_RETURN_IF_ERROR(wiring.first_error());
    return EnuWriter(wiring).text();
  });
}

}  // namespace convgrad::graph

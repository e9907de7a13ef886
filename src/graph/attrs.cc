// Attributes: their texts, defaults and checks against the op table.
#include <algorithm>
#include <charconv>
#include <cstring>

#include "graph/row.h"

namespace convgrad::graph {
namespace {

constexpr std::string_view kKinds[] = {"bool", "int", "float", "string", "type", "shape", "tensor", "list(int)"};

string quoted(std::string_view text) { return concat("\"", text, "\""); }

string joined(const std::vector<string>& words) {
  string text;
  for (const string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

string joined(const std::vector<int64>& numbers) {
  string text;
  for (int64 number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

string number_text(double value) {
  char text[40];
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  return string(text, end);
}

// What attribute `name` may be, in words.
string wanted_of(const AttrSpec& attr) {
  if (!attr.choices.empty()) return joined(attr.choices);
  if (!attr.types.empty()) {
    std::vector<string> names;
    for (DataType type : attr.types) names.push_back(DataTypeString(type));
    return joined(names);
  }
  return string(name(attr.kind));
}

convgrad::Status not_allowed(const OpSpec& op, const AttrSpec& attr, const string& got) {
  std::vector<string> allowed;
  for (const string& word : attr.choices) allowed.push_back(quoted(word));
  for (DataType type : attr.types) allowed.push_back(DataTypeString(type));
  return convgrad::refuse(op.name, {.rule = attr.types.empty() ? Rule::graph_attr : Rule::dtype,
                                    .argument = attr.name,
                                    .reason = concat("Value for attr '", attr.name, "' of ", got,
                                                     " is not in the list of allowed values: ", joined(allowed)),
                                    .got = got,
                                    .wanted = wanted_of(attr)});
}

convgrad::Status check_value(const OpSpec& op, const AttrSpec& attr, const AttrValue& value) {
  if (kind_of(value) != attr.kind)
    return convgrad::refuse(op.name, {.rule = Rule::graph_attr,
                                      .argument = attr.name,
                                      .reason = concat("attr '", attr.name, "' is of another kind"),
                                      .got = concat(name(kind_of(value)), " ", to_text(value)),
                                      .wanted = string(name(attr.kind))});
  if (const auto* shape = std::get_if<PartialTensorShape>(&value); shape != nullptr && !shape->unknown_rank()) {
    if (std::ranges::any_of(shape->sizes(), [](int64 size) { return size < -1; }))
      return convgrad::refuse(op.name, {.rule = Rule::graph_attr,
                                        .argument = attr.name,
                                        .reason = concat("attr '", attr.name, "' has a size below -1"),
                                        .got = to_text(value),
                                        .wanted = "sizes of 0 or more, or -1 for one that is not known"});
  }
  if (!attr.choices.empty()) {
    const string& word = std::get<string>(value);
    if (std::find(attr.choices.begin(), attr.choices.end(), word) == attr.choices.end())
      return not_allowed(op, attr, quoted(word));
  }
  if (!attr.types.empty()) {
    const DataType type = std::get<DataType>(value);
    if (std::find(attr.types.begin(), attr.types.end(), type) == attr.types.end())
      return not_allowed(op, attr, DataTypeString(type));
  }
  return {};
}

// The pin that input number `index` belongs to: a list pin takes all that follow it.
const PinSpec& pin_of(const OpSpec& op, std::size_t index) { return op.inputs[std::min(index, op.inputs.size() - 1)]; }

// The type attribute of a pin as its inputs decide it.
convgrad::Status infer_type(const OpSpec& op, const AttrSpec& attr, std::span<const WireInfo> inputs, AttrMap& attrs) {
  std::optional<DataType> found;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const PinSpec& pin = pin_of(op, i);
    if (pin.type != attr.name) continue;
    if (found && *found != inputs[i].dtype)
      return convgrad::refuse(
          op.name, {.rule = Rule::dtype,
                    .argument = pin.name,
                    .reason = concat("Inconsistent values for attr '", attr.name, "' ", DataTypeString(*found), " vs. ",
                                     DataTypeString(inputs[i].dtype)),
                    .got = DataTypeString(inputs[i].dtype),
                    .wanted = concat(DataTypeString(*found), ", as the inputs before it")});
    found = inputs[i].dtype;
  }
  if (!found) return {};
  CONVGRAD_RETURN_IF_ERROR(check_value(op, attr, *found));
  attrs.insert_or_assign(attr.name, *found);
  return {};
}

convgrad::Status check_inputs(const OpSpec& op, std::span<const WireInfo> inputs) {
  const bool list = !op.inputs.empty() && op.inputs.back().list;
  if (inputs.size() < op.inputs.size() || (!list && inputs.size() > op.inputs.size()))
    return convgrad::refuse(
        op.name, {.rule = Rule::graph_input,
                  .argument = inputs.size() < op.inputs.size() ? op.inputs[inputs.size()].name : string("inputs"),
                  .reason = "the number of inputs is wrong",
                  .got = concat(inputs.size()),
                  .wanted = concat(op.inputs.size(), list ? " or more" : "")});
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const PinSpec& pin = pin_of(op, i);
    const std::optional<DataType> fixed = data_type_from_name(pin.type);
    if (!fixed || inputs[i].dtype == *fixed) continue;
    return convgrad::refuse(op.name, {.rule = Rule::dtype,
                                      .argument = pin.name,
                                      .reason = concat("input '", pin.name, "' has another element type"),
                                      .got = DataTypeString(inputs[i].dtype),
                                      .wanted = pin.type});
  }
  return {};
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n"), last = text.find_last_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

// "1,2", "{1, 2}", "1;2", "[1][2]": integers with anything of ",;{}[]() " between them.
std::optional<std::vector<int64>> parse_integers(std::string_view text) {
  std::vector<int64> numbers;
  constexpr std::string_view kBetween = ",;{}[]() \t\r\n";
  while (true) {
    const auto start = text.find_first_not_of(kBetween);
    if (start == std::string_view::npos) return numbers;
    text.remove_prefix(start);
    int64 number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && kBetween.find(text.front()) == std::string_view::npos) return std::nullopt;
    numbers.push_back(number);
  }
}

std::optional<double> parse_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::optional<AttrValue> parse_kind(AttrKind kind, std::string_view text) {
  switch (kind) {
    case AttrKind::boolean:
      if (text == "true" || text == "True" || text == "1") return true;
      if (text == "false" || text == "False" || text == "0") return false;
      return std::nullopt;
    case AttrKind::integer: {
      const auto numbers = parse_integers(text);
      return numbers && numbers->size() == 1 ? std::optional<AttrValue>(numbers->front()) : std::nullopt;
    }
    case AttrKind::number: {
      const auto number = parse_number(text);
      return number ? std::optional<AttrValue>(*number) : std::nullopt;
    }
    case AttrKind::text: {
      if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
      return AttrValue(string(text));
    }
    case AttrKind::type: {
      const auto type = data_type_from_name(text);
      return type ? std::optional<AttrValue>(*type) : std::nullopt;
    }
    case AttrKind::shape: {
      const auto sizes = parse_integers(text);
      return sizes ? std::optional<AttrValue>(PartialTensorShape(*sizes)) : std::nullopt;
    }
    case AttrKind::integers: {
      const auto numbers = parse_integers(text);
      return numbers ? std::optional<AttrValue>(*numbers) : std::nullopt;
    }
    case AttrKind::tensor: break;
  }
  return std::nullopt;
}

convgrad::Status no_such_attr(const OpSpec& op, std::string_view attr) {
  std::vector<string> names;
  for (const AttrSpec& spec : op.attrs) {
    if (!spec.from_inputs) names.push_back(spec.name);
  }
  return convgrad::refuse(op.name, {.rule = Rule::graph_attr,
                                    .argument = attr,
                                    .reason = concat("there is no attr '", attr, "'"),
                                    .got = string(attr),
                                    .wanted = names.empty() ? "no attributes" : joined(names)});
}

}  // namespace

std::string_view name(AttrKind kind) { return kKinds[static_cast<int>(kind)]; }

bool same_value(const AttrValue& a, const AttrValue& b) {
  if (const Tensor* tensor = std::get_if<Tensor>(&a)) {
    const Tensor* other = std::get_if<Tensor>(&b);
    return other != nullptr && tensor->dtype() == other->dtype() && tensor->shape() == other->shape() &&
           tensor->tensor_data() == other->tensor_data();
  }
  return a.index() == b.index() && std::visit(
                                       [&]<class T>(const T& value) {
                                         if constexpr (std::is_same_v<T, Tensor>)
                                           return false;
                                         else
                                           return value == std::get<T>(b);
                                       },
                                       a);
}

string to_text(const AttrValue& value) {
  struct Text {
    string operator()(bool flag) const { return flag ? "true" : "false"; }
    string operator()(int64 number) const { return std::to_string(number); }
    string operator()(double number) const { return number_text(number); }
    string operator()(const string& text) const { return quoted(text); }
    string operator()(DataType type) const { return DataTypeString(type); }
    string operator()(const PartialTensorShape& shape) const { return shape.DebugString(); }
    string operator()(const Tensor& tensor) const { return tensor.DebugString(); }
    string operator()(const std::vector<int64>& numbers) const { return concat("[", joined(numbers), "]"); }
  };
  return std::visit(Text{}, value);
}

string AttrSpec::setter() const {
  string text;
  bool upper = true;
  for (char letter : name) {
    if (letter != '_') text += upper && letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
    upper = letter == '_';
  }
  return text;
}

const AttrSpec* OpSpec::attr(std::string_view wanted) const {
  for (const AttrSpec& spec : attrs) {
    if (spec.name == wanted) return &spec;
  }
  return nullptr;
}

Result<AttrValue> parse_attr(const OpSpec& op, std::string_view attr, std::string_view text) {
  const AttrSpec* spec = op.attr(attr);
  if (spec == nullptr || spec->from_inputs) return no_such_attr(op, attr);
  const std::optional<AttrValue> value = parse_kind(spec->kind, trimmed(text));
  if (!value)
    return convgrad::refuse(op.name, {.rule = Rule::graph_attr,
                                      .argument = attr,
                                      .reason = concat("attr '", attr, "' cannot be read"),
                                      .got = quoted(text),
                                      .wanted = wanted_of(*spec)});
  CONVGRAD_RETURN_IF_ERROR(check_value(op, *spec, *value));
  return *value;
}

Result<AttrMap> complete_attrs(const OpSpec& op, AttrMap given, std::span<const WireInfo> inputs) {
  CONVGRAD_RETURN_IF_ERROR(check_inputs(op, inputs));
  for (const auto& [name, value] : given) {
    const AttrSpec* spec = op.attr(name);
    if (spec == nullptr) return no_such_attr(op, name);
    CONVGRAD_RETURN_IF_ERROR(check_value(op, *spec, value));
  }
  for (const AttrSpec& spec : op.attrs) {
    if (spec.from_inputs) CONVGRAD_RETURN_IF_ERROR(infer_type(op, spec, inputs, given));
    if (given.contains(spec.name)) continue;
    if (!spec.fallback)
      return convgrad::refuse(op.name, {.rule = Rule::graph_attr,
                                        .argument = spec.name,
                                        .reason = concat("attr '", spec.name, "' is missing"),
                                        .got = "nothing",
                                        .wanted = wanted_of(spec)});
    given.insert_or_assign(spec.name, *spec.fallback);
  }
  return given;
}

AttrSpec type_of_inputs(string name, std::vector<DataType> types) {
  return {.name = std::move(name),
          .kind = AttrKind::type,
          .doc = "Element type, decided by the inputs.",
          .types = std::move(types),
          .from_inputs = true};
}

AttrSpec integers(string name, string doc, std::optional<std::vector<int64>> fallback) {
  AttrSpec spec{.name = std::move(name), .kind = AttrKind::integers, .doc = std::move(doc)};
  if (fallback) spec.fallback = *fallback;
  return spec;
}

AttrSpec choice(string name, string doc, std::vector<string> choices, std::optional<string> fallback) {
  AttrSpec spec{.name = std::move(name), .kind = AttrKind::text, .doc = std::move(doc), .choices = std::move(choices)};
  if (fallback) spec.fallback = *fallback;
  return spec;
}

AttrSpec flag(string name, string doc, bool fallback) {
  return {.name = std::move(name), .kind = AttrKind::boolean, .doc = std::move(doc), .fallback = fallback};
}

AttrSpec number(string name, string doc, double fallback) {
  return {.name = std::move(name), .kind = AttrKind::number, .doc = std::move(doc), .fallback = fallback};
}

AttrSpec type(string name, string doc, std::vector<DataType> types, std::optional<DataType> fallback) {
  AttrSpec spec{.name = std::move(name), .kind = AttrKind::type, .doc = std::move(doc), .types = std::move(types)};
  if (fallback) spec.fallback = *fallback;
  return spec;
}

std::vector<DataType> floating_types() { return {DT_HALF, DT_BFLOAT16, DT_FLOAT, DT_DOUBLE}; }
std::vector<DataType> number_types() { return {DT_HALF, DT_BFLOAT16, DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64}; }

}  // namespace convgrad::graph

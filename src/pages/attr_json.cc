#include "pages/attr_json.h"

#include <algorithm>

#include "pages/refusals.h"

namespace convgrad::graph {
namespace {

convgrad::Status wrong(const AttrSpec& attr, const Json& json, std::string_view wanted) {
  return refuse("page", {.rule = Rule::graph_attr,
                         .argument = attr.name,
                         .reason = concat("line ", json.line, ": attr '", attr.name, "' cannot be read"),
                         .got = brief(json),
                         .wanted = string(wanted)});
}

std::optional<std::vector<int64>> integers_of(const Json& json) {
  const auto* list = json.as<Json::List>();
  if (list == nullptr) return std::nullopt;
  std::vector<int64> numbers;
  for (const Json& entry : *list) {
    const int64* number = entry.as<int64>();
    if (number == nullptr) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<AttrValue> shape_of(const Json& json) {
  if (json.as<std::monostate>() != nullptr) return PartialTensorShape();
  std::optional<std::vector<int64>> sizes = integers_of(json);
  if (!sizes || std::any_of(sizes->begin(), sizes->end(), [](int64 size) { return size < -1; })) return std::nullopt;
  return PartialTensorShape(std::move(*sizes));
}

std::optional<AttrValue> type_of(const Json& json) {
  const string* text = json.as<string>();
  const std::optional<DataType> type = text == nullptr ? std::nullopt : data_type_from_name(*text);
  return type ? std::optional<AttrValue>(*type) : std::nullopt;
}

template <class T>
std::optional<AttrValue> plain(const T* value) {
  return value == nullptr ? std::nullopt : std::optional<AttrValue>(*value);
}
template <class T>
std::optional<AttrValue> plain(const std::optional<T>& value) {
  return plain(value ? &*value : nullptr);
}

// Every kind but tensors.
std::optional<AttrValue> plain_attr(AttrKind kind, const Json& json) {
  switch (kind) {
    case AttrKind::boolean: return plain(json.as<bool>());
    case AttrKind::integer: return plain(json.as<int64>());
    case AttrKind::number: return plain(number_of(json));
    case AttrKind::text: return plain(json.as<string>());
    case AttrKind::type: return type_of(json);
    case AttrKind::shape: return shape_of(json);
    case AttrKind::integers: return plain(integers_of(json));
    case AttrKind::tensor: break;
  }
  return std::nullopt;
}

constexpr std::string_view kWanted[] = {
    "true or false",
    "an integer",
    "a number",
    "a string",
    "the name of an element type, such as \"float\"",
    "a list of sizes, -1 for one that is not known, or null",
    R"({"dtype": ..., "shape": [...], "data": [...]}, or "npy" in place of "data")",
    "a list of integers",
};

struct TensorParts {
  DataType dtype = DT_INVALID;
  Shape shape = {};
  const Json* data = nullptr;
  const string* file = nullptr;
};

Result<TensorParts> parts_of(const AttrSpec& attr, const Json& json) {
  const std::string_view wanted = kWanted[static_cast<int>(AttrKind::tensor)];
  const auto* members = json.as<Json::Members>();
  if (members == nullptr) return wrong(attr, json, wanted);
  TensorParts parts;
  bool shaped = false;
  for (const auto& [key, value] : *members) {
    const string* text = value.as<string>();
    if (key == "dtype" && text != nullptr) {
      parts.dtype = data_type_from_name(*text).value_or(DT_INVALID);
    } else if (key == "shape" && integers_of(value)) {
      parts.shape = *integers_of(value);
      shaped = true;
    } else if (key == "data" && value.as<Json::List>() != nullptr) {
      parts.data = &value;
    } else if (key == "npy" && text != nullptr) {
      parts.file = text;
    } else {
      return wrong(attr, value, concat(wanted, "; key ", shown(key)));
    }
  }
  if (parts.dtype == DT_INVALID || !shaped || (parts.data == nullptr) == (parts.file == nullptr))
    return wrong(attr, json, wanted);
  return parts;
}

Result<AttrValue> tensor_in_page(const AttrSpec& attr, const TensorParts& parts) {
  const auto& data = *parts.data->as<Json::List>();
  const Result<int64> count = element_count(parts.shape);
  if (!count.ok() || *count != static_cast<int64>(data.size()))
    return refuse("page", {.rule = Rule::element_count,
                           .argument = attr.name,
                           .reason = concat("line ", parts.data->line, ": the number of elements is not the shape's"),
                           .got = concat(data.size(), " elements"),
                           .wanted = concat(convgrad::to_text(parts.shape), " of them")});
  Result<Tensor> tensor = Tensor::make(parts.dtype, parts.shape);
  if (!tensor.ok()) return tensor.status();
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (!set_element(*tensor, static_cast<int64>(i), data[i]))
      return wrong(attr, data[i], concat("an element of ", DataTypeString(parts.dtype)));
  }
  return AttrValue(std::move(*tensor));
}

Result<AttrValue> tensor_of(const AttrSpec& attr, const Json& json, TensorFiles& files) {
  const Result<TensorParts> parts = parts_of(attr, json);
  if (!parts.ok()) return parts.status();
  if (parts->file == nullptr) return tensor_in_page(attr, *parts);
  Result<Tensor> tensor = files.read(*parts->file);
  if (!tensor.ok()) return tensor.status();
  if (tensor->dtype() != parts->dtype || tensor->shape().dim_sizes() != parts->shape)
    return refuse("page", {.rule = Rule::graph_file,
                           .argument = attr.name,
                           .reason = concat(shown(*parts->file), " holds another tensor than the page says"),
                           .got = concat(DataTypeString(tensor->dtype()), tensor->shape().DebugString()),
                           .wanted = concat(DataTypeString(parts->dtype), convgrad::to_text(parts->shape))});
  return AttrValue(std::move(*tensor));
}

Result<Json> json_of_tensor(const Tensor& tensor, const string& file, TensorFiles& files) {
  Json json = Json::object();
  json.add("dtype", DataTypeString(tensor.dtype()));
  json.add("shape", shape_json(tensor.shape()));
  if (files.takes(tensor)) {
    CONVGRAD_RETURN_IF_ERROR(files.write(file, tensor));
    json.add("npy", file);
  } else {
    CONVGRAD_RETURN_IF_ERROR(files.count(tensor));
    json.add("data", elements_json(tensor));
  }
  return json;
}

}  // namespace

Json shape_json(const PartialTensorShape& shape) {
  if (shape.unknown_rank()) return {};
  Json list = Json::list();
  for (int64 size : shape.sizes()) list.add(size);
  return list;
}

Result<AttrValue> attr_from_json(const AttrSpec& attr, const Json& json, TensorFiles& files) {
  if (attr.kind == AttrKind::tensor) return tensor_of(attr, json, files);
  std::optional<AttrValue> value = plain_attr(attr.kind, json);
  if (value) return std::move(*value);
  return wrong(attr, json, kWanted[static_cast<int>(attr.kind)]);
}

Result<Json> json_of_attr(const AttrValue& value, const string& file, TensorFiles& files) {
  if (const Tensor* tensor = std::get_if<Tensor>(&value)) return json_of_tensor(*tensor, file, files);
  if (const double* number = std::get_if<double>(&value)) return number_json(*number);
  if (const DataType* type = std::get_if<DataType>(&value)) return Json(DataTypeString(*type));
  if (const auto* shape = std::get_if<PartialTensorShape>(&value)) return shape_json(*shape);
  if (const bool* flag = std::get_if<bool>(&value)) return Json(*flag);
  if (const int64* whole = std::get_if<int64>(&value)) return Json(*whole);
  if (const string* text = std::get_if<string>(&value)) return Json(*text);
  Json list = Json::list();
  for (int64 number : std::get<std::vector<int64>>(value)) list.add(number);
  return list;
}

}  // namespace convgrad::graph

// The op table as JSON, and the JSON Schema of page files.
#include "base/text.h"
#include "pages/attr_json.h"
#include "pages/page_facts.h"

namespace convgrad::graph {
namespace {

Json text_list(std::span<const string> texts) {
  Json list = Json::list();
  for (const string& text : texts) list.add(text);
  return list;
}

Json type_names(std::span<const DataType> types) {
  Json list = Json::list();
  for (DataType type : types) list.add(DataTypeString(type));
  return list;
}

// Defaults are small: no tensors.
Json default_json(const AttrValue& value) {
  const PageFolder nowhere;
  TensorFiles files(nowhere);
  const Result<Json> json = json_of_attr(value, "", files);
  return json.ok() ? *json : Json();
}

Json attr_json(const AttrSpec& attr) {
  Json json = Json::object();
  json.add("name", attr.name);
  json.add("kind", name(attr.kind));
  json.add("doc", attr.doc);
  if (attr.fallback) json.add("default", default_json(*attr.fallback));
  if (!attr.choices.empty()) json.add("choices", text_list(attr.choices));
  if (!attr.types.empty()) json.add("types", type_names(attr.types));
  if (attr.from_inputs) json.add("from_inputs", true);
  return json;
}

Json pins_json(const std::vector<PinSpec>& pins) {
  Json list = Json::list();
  for (const PinSpec& pin : pins) {
    Json& json = list.add(Json::object());
    json.add("name", pin.name);
    json.add("type", pin.type);
    json.add("doc", pin.doc);
    if (pin.list) json.add("list", true);
    if (pin.variable) json.add("variable", true);
  }
  return list;
}

Json op_json(const OpSpec& op) {
  Json json = Json::object(), attrs = Json::list();
  for (const AttrSpec& attr : op.attrs) attrs.add(attr_json(attr));
  json.add("name", op.name);
  json.add("group", op.group);
  json.add("doc", op.doc);
  json.add("class", op.cpp_class());
  json.add("inputs", pins_json(op.inputs));
  json.add("outputs", pins_json(op.outputs));
  json.add("attrs", std::move(attrs));
  json.add("gradient", op.has_gradient);
  json.add("stateful", op.stateful);
  return json;
}

Json reference(std::string_view to) { return Json::Members{{"$ref", concat("#/$defs/", to)}}; }
Json typed(std::string_view type) { return Json::Members{{"type", type}}; }

Json list_of(Json items) {
  Json json = typed("array");
  json.add("items", std::move(items));
  return json;
}

// An object of these members and no others.
Json object_of(Json::Members members, Json::List required) {
  Json json = typed("object");
  if (!required.empty()) json.add("required", std::move(required));
  json.add("properties", std::move(members));
  json.add("additionalProperties", false);
  return json;
}

Json tuple_of(Json::List entries) {
  Json json = typed("array");
  json.add("minItems", static_cast<int64>(entries.size()));
  json.add("maxItems", static_cast<int64>(entries.size()));
  json.add("prefixItems", std::move(entries));
  return json;
}

Json attr_schema(const AttrSpec& attr) {
  constexpr std::string_view kPlain[] = {"boolean", "integer", "", "string"};
  Json json = Json::object();
  if (!attr.choices.empty()) {
    json.add("enum", text_list(attr.choices));
  } else if (attr.kind == AttrKind::type) {
    json.add("enum", type_names(attr.types));
  } else if (attr.kind == AttrKind::integers) {
    json = list_of(typed("integer"));
  } else if (attr.kind == AttrKind::number || attr.kind == AttrKind::shape || attr.kind == AttrKind::tensor) {
    json = reference(attr.kind == AttrKind::number ? "number" : name(attr.kind));
  } else {
    json = typed(kPlain[static_cast<int>(attr.kind)]);
  }
  json.add("description", attr.doc);
  if (attr.fallback) json.add("default", default_json(*attr.fallback));
  return json;
}

Json attrs_schema(const OpSpec& op) {
  Json::Members members;
  for (const AttrSpec& attr : op.attrs) {
    if (!attr.from_inputs) members.push_back({attr.name, attr_schema(attr)});
  }
  return object_of(std::move(members), {});
}

// A node's attributes depend on its op.
Json node_schema() {
  Json::List ops, rules;
  for (const OpSpec* op : all_graph_ops()) {
    ops.push_back(op->name);
    const Json is_op = Json::Members{{"properties", Json::Members{{"op", Json::Members{{"const", op->name}}}}}};
    const Json attrs = Json::Members{{"properties", Json::Members{{"attrs", reference(op->name)}}}};
    rules.push_back(Json::Members{{"if", is_op}, {"then", attrs}});
  }
  Json id = typed("string");
  id.add("minLength", 1);
  Json json = object_of(
      {{"id", id}, {"op", Json::Members{{"enum", ops}}}, {"name", typed("string")}, {"attrs", typed("object")}},
      {"id", "op"});
  json.add("allOf", std::move(rules));
  return json;
}

Json number_schema() {
  const Json word = Json::Members{{"enum", Json::List{"NaN", "Infinity", "-Infinity"}}};
  const Json bits = Json::Members{{"type", "string"}, {"pattern", "^NaN\\(0x[0-9a-f]+\\)$"}};
  return Json::Members{{"anyOf", Json::List{typed("number"), word, bits}}};
}

Json tensor_schema() {
  std::vector<DataType> types;
  for (const DataTypeInfo& row : all_data_types()) types.push_back(row.dtype);
  Json size = typed("integer");
  size.add("minimum", 0);
  Json element = Json::Members{{"anyOf", Json::List{reference("number"), typed("boolean")}}};
  Json file = typed("string");
  file.add("pattern", "^[^./\\\\:][^/\\\\:]*\\.npy$");
  Json json = object_of({{"dtype", Json::Members{{"enum", type_names(types)}}},
                         {"shape", list_of(size)},
                         {"data", list_of(element)},
                         {"npy", file}},
                        {"dtype", "shape"});
  json.add("oneOf",
           Json::List{Json::Members{{"required", Json::List{"data"}}}, Json::Members{{"required", Json::List{"npy"}}}});
  return json;
}

Json shape_schema() {
  Json size = typed("integer");
  size.add("minimum", -1);
  return Json::Members{{"anyOf", Json::List{list_of(size), typed("null")}}};
}

Json limited_list(std::string_view items, std::size_t limit) {
  Json json = list_of(reference(items));
  json.add("maxItems", static_cast<int64>(limit));
  return json;
}

Json definitions() {
  Json json = Json::object();
  json.add("node", node_schema());
  json.add("pin", tuple_of({typed("string"), typed("string")}));
  json.add("edge", tuple_of({reference("pin"), reference("pin")}));
  json.add("number", number_schema());
  json.add("shape", shape_schema());
  json.add("tensor", tensor_schema());
  for (const OpSpec* op : all_graph_ops()) json.add(op->name, attrs_schema(*op));
  return json;
}

Json schema() {
  Json json = Json::object();
  json.add("$schema", "https://json-schema.org/draft/2020-12/schema");
  json.add("title", "A page of convgrad");
  const Json page = object_of({{"convgrad", Json::Members{{"const", 1}}},
                               {"nodes", limited_list("node", kPageNodes)},
                               {"edges", limited_list("edge", kPageEdges)},
                               {"fetch", limited_list("pin", kPageEdges)},
                               {"view", Json::Members{}}},
                              {"convgrad", "nodes"});
  for (const JsonMember& member : *page.as<Json::Members>()) json.add(member.key, member.value);
  json.add("$defs", definitions());
  return json;
}

Json table() {
  Json json = Json::object(), types = Json::list(), ops = Json::list();
  for (const DataTypeInfo& row : all_data_types()) {
    Json& type = types.add(Json::object());
    type.add("name", row.name);
    type.add("numpy", row.letters);
    type.add("bytes", static_cast<int64>(row.bytes));
    type.add("computes", row.computes);
  }
  for (const OpSpec* op : all_graph_ops()) ops.add(op_json(*op));
  json.add("convgrad", 1);
  json.add("types", std::move(types));
  json.add("ops", std::move(ops));
  return json;
}

}  // namespace

string ops_json() { return laid_out(table(), 2); }

string page_schema() { return laid_out(schema(), 2); }

}  // namespace convgrad::graph

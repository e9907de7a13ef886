// enuSpace's page JSON as blocks and pins.
#include "pages/enuspace.h"
#include "pages/unicode.h"

namespace convgrad::graph {
namespace {

convgrad::Status bad_page(const Json& at, std::string_view argument, string reason, string wanted) {
  return refuse("enuSpace", {.rule = Rule::graph_file,
                             .argument = argument,
                             .reason = concat("line ", at.line, ": ", reason),
                             .got = brief(at),
                             .wanted = std::move(wanted)});
}

// A field as text: some writers put numbers in quotes, some do not.
string field(const Json& pin, std::string_view key) {
  const Json* value = pin.find(key);
  if (value == nullptr || value->as<std::monostate>() != nullptr) return {};
  const string* text = value->as<string>();
  return text != nullptr ? *text : compact(*value);
}

EnuPin pin_of(const Json& json) {
  EnuPin pin{.name = field(json, "pin-name"),
             .save = field(json, "pin-save"),
             .shape = field(json, "pin-shape"),
             .datatype = field(json, "pin-datatype"),
             .initial = field(json, "pin-initial"),
             .position = field(json, "pin-binary-pos"),
             .source = {field(json, "in-symbol-id"), field(json, "in-symbol-pin-name")}};
  // Where the type stands in pin-type, pin-datatype is empty or no type.
  if (const string type = field(json, "pin-type"); !enu_type(pin.datatype) && enu_type(type)) pin.datatype = type;
  return pin;
}

convgrad::Status read_pins(const Json& block, std::string_view key, std::vector<EnuPin>& pins) {
  const Json* json = block.find(key);
  if (json == nullptr) return {};
  const auto* list = json->as<Json::List>();
  if (list == nullptr) return bad_page(*json, key, concat("\"", key, "\" is no list"), "a list of pins");
  for (const Json& entry : *list) {
    pins.push_back(pin_of(entry));
    if (pins.back().name.empty()) return bad_page(entry, "pin-name", "a pin has no name", "an object with pin-name");
  }
  return {};
}

}  // namespace

const EnuPin* EnuBlock::input(std::string_view name) const {
  for (const EnuPin& pin : inputs) {
    if (pin.name == name) return &pin;
  }
  return nullptr;
}

Result<std::vector<EnuBlock>> read_blocks(std::string_view json) {
  const std::optional<string> text = to_utf8(json);
  if (!text)
    return refuse("enuSpace", {.rule = Rule::graph_file,
                               .argument = "text",
                               .reason = "the text is not UTF-16, as its first bytes say",
                               .got = "half a character",
                               .wanted = "UTF-16 with a byte order mark, or UTF-8"});
  const Result<Json> root = read_json(*text, "enuSpace");
  if (!root.ok()) return root.status();
  const Json* objects = root->find("object");
  const auto* list = objects == nullptr ? nullptr : objects->as<Json::List>();
  if (list == nullptr)
    return bad_page(*root, "object", "this is no page of enuSpace", "an object with a list \"object\"");
  std::vector<EnuBlock> blocks;
  for (const Json& entry : *list) {
    EnuBlock block{.id = field(entry, "id"), .symbol = field(entry, "symbol-name")};
    if (block.symbol.starts_with('#')) block.symbol.erase(0, 1);
    if (block.id.empty() || block.symbol.empty())
      return bad_page(entry, "id", "a block has no id or no symbol-name", "both");
    for (const auto& [key, pins] : {std::pair("input", &block.inputs), std::pair("output", &block.outputs)}) {
      const convgrad::Status status = read_pins(entry, key, *pins);
      if (!status.ok()) return at_node(status, block.id);
    }
    blocks.push_back(std::move(block));
  }
  return blocks;
}

}  // namespace convgrad::graph

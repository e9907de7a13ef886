// From JSON to op calls.
#include "cli/case_file.h"

#include <fmt/core.h>

#include "cli/answer.h"
#include "cli/json_fields.h"

namespace convgrad::cli {
namespace {

using nlohmann::json;

constexpr JsonForm kCases = {"--case", "a case object, an array of them, or {\"cases\": [...]}"};

Status not_cases(std::string reason, std::string got) { return not_of_form(kCases, std::move(reason), std::move(got)); }

// {"shape": [4], "value": [1,1,1,1]}, or the list alone.
Status read_sizes(OwnedCall& call, std::string_view name, const json& field) {
  if (!field.is_object()) {
    Result<NumberList> numbers = numbers_of(name, field);
    if (numbers.ok()) call.sizes = std::move(*numbers);
    return numbers.status();
  }
  const json* shape = member(field, "shape");
  const json* value = member(field, "value");
  if (shape == nullptr || value == nullptr) return wrong_type(name, field, "an object with shape and value");
  const Result<NumberList> sizes = numbers_of(name, *shape);
  if (!sizes.ok()) return sizes.status();
  call.sizes_rank = static_cast<int>(sizes->size());
  if (call.sizes_rank != 1) return {};  // refused by its rank, whatever the values are
  Result<NumberList> numbers = numbers_of(name, *value);
  if (!numbers.ok()) return numbers.status();
  if ((*sizes)[0] != static_cast<std::int64_t>(numbers->size())) {
    return complain({.rule = "element-count",
                     .argument = name,
                     .reason = fmt::format("{} has not as many values as its shape says", name),
                     .got = fmt::format("{} values", numbers->size()),
                     .wanted = fmt::format("{}", (*sizes)[0])});
  }
  call.sizes = std::move(*numbers);
  return {};
}

Status read_list(OwnedCall& call, std::string_view name, const json& field) {
  Result<NumberList> numbers = numbers_of(name, field);
  if (numbers.ok()) *list_field(call, name) = std::move(*numbers);
  return numbers.status();
}

Status read_text(OwnedCall& call, std::string_view name, const json& field) {
  if (!field.is_string()) return wrong_type(name, field, "a text");
  *text_field(call, name) = field.get_ref<const std::string&>();
  return {};
}

// Calls read(name, value) for each of names that object has.
template <class Read>
Status for_members(const json& object, std::initializer_list<std::string_view> names, const Read& read) {
  for (std::string_view name : names) {
    if (const json* field = member(object, name)) CONVGRAD_RETURN_IF_ERROR(read(name, *field));
  }
  return {};
}

// The object under that key; an empty one when there is none.
Result<const json*> object_at(const json& parent, std::string_view key) {
  static const json none = json::object();
  const json* found = member(parent, key);
  if (found == nullptr) return &none;
  if (!found->is_object()) return wrong_type(key, *found, "an object");
  return found;
}

Status read_tensors(OwnedCall& call, const json& source) {
  const Result<const json*> shapes = object_at(source, "tensor_shapes");
  if (!shapes.ok()) return shapes.status();
  const auto list = [&](std::string_view name, const json& field) { return read_list(call, name, field); };
  CONVGRAD_RETURN_IF_ERROR(for_members(**shapes, {"input", "filter", "out_backprop"}, list));
  for (std::string_view name : tensor_arguments(info(call.op).direction)) {
    const json* field = is_size_vector(name) ? member(source, name) : nullptr;
    if (field != nullptr) CONVGRAD_RETURN_IF_ERROR(read_sizes(call, name, *field));
  }
  return {};
}

Status read_attributes(OwnedCall& call, const json& source) {
  const Result<const json*> attrs = object_at(source, "attrs");
  if (!attrs.ok()) return attrs.status();
  const auto list = [&](std::string_view name, const json& field) { return read_list(call, name, field); };
  const auto text = [&](std::string_view name, const json& field) { return read_text(call, name, field); };
  CONVGRAD_RETURN_IF_ERROR(for_members(**attrs, {"strides", "dilations", "explicit_paddings"}, list));
  CONVGRAD_RETURN_IF_ERROR(for_members(**attrs, {"padding", "data_format"}, text));
  return for_members(source, {"data_format"}, text);
}

Status read_dtype(OwnedCall& call, const json& source) {
  const json* field = member(source, "dtype");
  if (field == nullptr) return {};
  if (!field->is_string()) return wrong_type("dtype", *field, "the name of an element type");
  const Result<DType> dtype = find_dtype(field->get_ref<const std::string&>());
  if (dtype.ok()) call.dtype = *dtype;
  return dtype.status();
}

Result<OwnedCall> call_of(const json& source) {
  if (!source.is_object()) return wrong_type("case", source, "an object");
  const json* name = member(source, "op");
  if (name == nullptr) return not_cases("the case has no op", "an object without the field op");
  if (!name->is_string()) return wrong_type("op", *name, "the name of an op");
  const Result<Op> op = find_op(name->get_ref<const std::string&>());
  if (!op.ok()) return op.status();
  OwnedCall call = OwnedCall::of(*op);
  CONVGRAD_RETURN_IF_ERROR(read_dtype(call, source));
  CONVGRAD_RETURN_IF_ERROR(read_attributes(call, source));
  CONVGRAD_RETURN_IF_ERROR(read_tensors(call, source));
  return call;
}

std::string id_of(const json& source, std::size_t index) {
  const json* id = source.is_object() ? member(source, "id") : nullptr;
  if (id != nullptr && id->is_string()) return printable(shortened(id->get_ref<const std::string&>()));
  return fmt::format("case-{}", index);
}

}  // namespace

Result<std::vector<Case>> parse_cases(std::string_view text) {
  const Result<json> root = parse_json(kCases, text);
  if (!root.ok()) return root.status();
  const json* list = root->is_object() ? member(*root, "cases") : &*root;
  std::vector<Case> cases;
  if (list == nullptr) {
    cases.push_back({id_of(*root, 1), call_of(*root)});
    return cases;
  }
  if (!list->is_array()) return not_cases("these are no cases", shown(*list));
  if (list->empty()) return not_cases("there are no cases", "an empty array");
  for (const json& source : *list) cases.push_back({id_of(source, cases.size() + 1), call_of(source)});
  return cases;
}

}  // namespace convgrad::cli

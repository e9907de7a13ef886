#include "pages/page_facts.h"

namespace convgrad::graph {
namespace {

constexpr std::string_view kValue = "value", kType = "dtype";

const Tensor* value_of(const OpSpec& op, const AttrMap& attrs) {
  const AttrSpec *value = op.attr(kValue), *type = op.attr(kType);
  if (value == nullptr || type == nullptr || value->kind != AttrKind::tensor || type->kind != AttrKind::type)
    return nullptr;
  const auto found = attrs.find(kValue);
  return found == attrs.end() ? nullptr : std::get_if<Tensor>(&found->second);
}

}  // namespace

void add_value_type(const OpSpec& op, AttrMap& attrs) {
  const Tensor* value = value_of(op, attrs);
  if (value != nullptr) attrs.try_emplace(string(kType), value->dtype());
}

bool says_value_type(const OpSpec& op, const string& name, const AttrMap& attrs) {
  const Tensor* value = name == kType ? value_of(op, attrs) : nullptr;
  return value != nullptr && same_value(attrs.find(name)->second, AttrValue(value->dtype()));
}

}  // namespace convgrad::graph

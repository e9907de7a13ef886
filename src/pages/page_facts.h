// What a page may hold, and the one attribute that another one tells.
#pragma once

#include "convgrad/graph/op_table.h"

namespace convgrad::graph {

constexpr std::size_t kPageNodes = 1'000'000;
constexpr std::size_t kPageEdges = 10'000'000;

// A value's type need not be said twice: `dtype` of an op with a tensor `value` is that tensor's where it is left out.
void add_value_type(const OpSpec& op, AttrMap& attrs);
// Whether `name` is that attribute and says no more than the value.
bool says_value_type(const OpSpec& op, const string& name, const AttrMap& attrs);

}  // namespace convgrad::graph

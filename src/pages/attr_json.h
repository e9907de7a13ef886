// Attribute values as JSON and back.
#pragma once

#include "convgrad/graph/op_table.h"
#include "convgrad/graph/page.h"
#include "pages/element_json.h"
#include "pages/tensor_files.h"

namespace convgrad::graph {

// A refusal names the attribute, not the node.
Result<AttrValue> attr_from_json(const AttrSpec& attr, const Json& json, TensorFiles& files);
// file: the name under which a tensor would lie beside the page.
Result<Json> json_of_attr(const AttrValue& value, const string& file, TensorFiles& files);

// The shape is [-1, 2], or null when not even the rank is known.
Json shape_json(const PartialTensorShape& shape);

}  // namespace convgrad::graph

// Numbers and elements of tensors as JSON and back, bit by bit.
#pragma once

#include <optional>

#include "convgrad/graph/tensor.h"
#include "pages/json.h"

namespace convgrad::graph {

// Elements as a flat list: numbers, true and false; "NaN", "Infinity" and "-Infinity" as strings, and
// "NaN(0x7fc00001)" for a NaN of other bits than arithmetic gives.
Json elements_json(const Tensor& tensor);
Json element_json(const Tensor& tensor, int64 index);
// Element `index` of a tensor becomes this number; false when its type cannot hold it.
bool set_element(Tensor& tensor, int64 index, const Json& number);

// A number that may be none of JSON's.
Json number_json(double number);
std::optional<double> number_of(const Json& json);

}  // namespace convgrad::graph

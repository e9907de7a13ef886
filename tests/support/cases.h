// The case files of tests/data as op calls.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "convgrad/convgrad.h"

namespace convgrad::test {

nlohmann::json load(const std::string& file);  // from tests/data
std::vector<nlohmann::json> cases_of(const std::string& file);

// From ops.json and hostile.json.
OwnedCall call_of_case(const nlohmann::json& c);
OwnedCall call_of_hostile(const nlohmann::json& c);

// The same call with image shapes and per-dimension lists in the other layout.
OwnedCall in_layout(OwnedCall call, const std::string& data_format);

// A tensor by one of the construct rules (iota1, constant, ...), rounded to dtype.
Tensor constructed(const nlohmann::json& rule, DType dtype, const Shape& shape);

}  // namespace convgrad::test

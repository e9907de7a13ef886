// Cases: op calls as JSON, in the form of tests/data/hostile.json.
//
//   {"id": "...", "op": "Conv2DBackpropFilter", "dtype": "float32", "data_format": "NHWC",
//    "tensor_shapes": {"input": [1,1,1,2], "out_backprop": [1,1,1,1]},
//    "filter_sizes": {"shape": [4], "value": [1,1,1,1]},
//    "attrs": {"strides": [1,1,1,1], "dilations": [1,1,1,1], "padding": "VALID", "explicit_paddings": []}}
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/call.h"

namespace convgrad::cli {

inline constexpr std::size_t kMaxCaseBytes = std::size_t{16} << 20;

struct Case {
  std::string id;
  Result<OwnedCall> call;
};

// One case, an array of them, or {"cases": [...]}. A case that makes no sense is a Case with the
// reason; only text that is no JSON, or no such JSON, refuses the whole.
Result<std::vector<Case>> parse_cases(std::string_view text);

}  // namespace convgrad::cli

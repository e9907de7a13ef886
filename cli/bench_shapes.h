// The layers that `convgrad bench` times, in the form of bench/shapes.json.
//
//   {"shapes": [{"name": "stem", "N": 8, "Cin": 3, "spatial": [224, 224], "Cout": 64, "kernel": [7, 7],
//                "stride": [2, 2], "pad": [[3, 3], [3, 3]], "dilation": [1, 1], "groups": 1}, ...]}
//
// pad is "SAME", "VALID" or a pair a dimension; stride, dilation and groups are 1 where they are not given.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "convgrad/problem.h"

namespace convgrad::cli {

inline constexpr std::size_t kMaxShapesBytes = std::size_t{16} << 20;

struct BenchShape {
  std::string name;
  ConvProblem problem;  // direction, dtype and layout are the cell's to set
};

// The numbers are validate()'s to judge; only the form is looked at here.
Result<std::vector<BenchShape>> parse_shapes(std::string_view text);

}  // namespace convgrad::cli

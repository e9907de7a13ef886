// The header of a .npy file: a Python dict.
#pragma once

#include <optional>

#include "convgrad/graph/types.h"
#include "convgrad/tensor.h"

namespace convgrad::graph {

struct NpyHeader {
  string descr = {};  // "<f4"
  bool fortran_order = false;
  Shape shape = {};
};

// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }; no value for any other text.
std::optional<NpyHeader> parse_npy_header(std::string_view text);
string npy_header_text(const NpyHeader& header);

}  // namespace convgrad::graph

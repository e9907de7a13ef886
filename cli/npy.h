// NumPy's .npy files as operands of a problem, read and written by the library.
//
// A file that cannot be opened or written is a std::runtime_error; a file with the wrong content is a Status.
#pragma once

#include <string>
#include <string_view>

#include "convgrad/graph/tensor.h"

namespace convgrad::cli {

// Reads a file as dtype, row-major and in this machine's byte order. argument stands for it in refusals.
Result<graph::Tensor> read_npy(const std::string& path, DType dtype, std::string_view argument);

void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace convgrad::cli

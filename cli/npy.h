// NumPy's .npy files: read versions 1.0 to 3.0, write 1.0.
//
// A file that cannot be opened, read or written is a std::runtime_error; a file with the wrong
// content is a Status. Nothing is allocated before the file's real size has been compared.
#pragma once

#include <string>
#include <string_view>

#include "convgrad/tensor.h"

namespace convgrad::cli {

// What the header of a .npy file says.
struct NpyHeader {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  Shape shape;
};

// The Python dict of a header: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
Result<NpyHeader> parse_npy_header(std::string_view text, std::string_view argument);

// Reads a file as dtype, row-major and in this machine's byte order. argument names it in messages.
Result<Tensor> read_npy(const std::string& path, DType dtype, std::string_view argument);

void write_npy(const std::string& path, const Tensor& tensor);

}  // namespace convgrad::cli

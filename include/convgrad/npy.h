// NumPy's .npy files: versions 1.0 to 3.0 are read, 1.0 is written.
#ifndef CONVGRAD_NPY_H_
#define CONVGRAD_NPY_H_

#include <optional>
#include <string>
#include <string_view>

#include "convgrad/graph/tensor.h"

namespace convgrad::graph {

// All element types of graph tensors; bfloat16, which NumPy has no type for, as raw bytes "V2". Either byte order and
// either order of dimensions. `name` stands for the file in refusals. Nothing is allocated before the data's real size
// has been compared with what the header says.
CONVGRAD_API Result<Tensor> parse_npy(std::string_view bytes, std::string_view name = "npy");
CONVGRAD_API Result<string> npy_bytes(const Tensor& tensor);

// Plain files only: no devices, pipes or folders. A wanted type is the only one taken; bfloat16 may then lie in u2.
CONVGRAD_API Result<Tensor> read_npy(const string& path, std::optional<DataType> wanted = {});
// Through a file beside it that takes its name when it is whole.
CONVGRAD_API convgrad::Status write_npy(const string& path, const Tensor& tensor);

}  // namespace convgrad::graph

#endif  // CONVGRAD_NPY_H_

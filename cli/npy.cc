#include "cli/npy.h"

#include <fmt/core.h>

#include <stdexcept>

#include "cli/answer.h"
#include "cli/files.h"
#include "convgrad/npy.h"

namespace convgrad::cli {

Result<graph::Tensor> read_npy(const std::string& path, DType dtype, std::string_view argument) {
  expect_readable_file(path);
  Result<graph::Tensor> tensor = graph::read_npy(path, graph::data_type_of(dtype));
  if (tensor.ok() || tensor.status().code() != StatusCode::invalid_argument) return tensor;
  const Status& status = tensor.status();
  return Status(ErrorDetail{.code = status.code(),
                            .message = status.message(),
                            .argument = std::string(argument),
                            .got = status.got(),
                            .wanted = status.wanted(),
                            .rule = status.rule() == "dtype" ? "dtype" : "operand-data"});
}

void write_npy(const std::string& path, const Tensor& tensor) {
  const Status status = graph::write_npy(path, graph::Tensor::from(tensor));
  if (!status.ok()) throw std::runtime_error(fmt::format("cannot write {}: {}", in_quotes(path), status.got()));
}

}  // namespace convgrad::cli

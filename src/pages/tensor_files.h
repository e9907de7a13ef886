// The .npy files beside a page. Names are plain: a page reaches nothing outside its folder.
#pragma once

#include <map>
#include <set>

#include "convgrad/graph/page.h"

namespace convgrad::graph {

class TensorFiles {
 public:
  explicit TensorFiles(const PageFolder& folder) : folder_(folder) {}

  // Tensors of more elements than these lie in files, when there is a folder.
  static constexpr int64 kInPage = 64;
  bool takes(const Tensor& tensor) const { return !folder_.path.empty() && tensor.NumElements() > kInPage; }

  // The same tensor for the same name: many nodes may share a file.
  Result<Tensor> read(const string& name);
  convgrad::Status write(const string& name, const Tensor& tensor);

  // Elements that were written into pages; refused beyond what a reader takes.
  convgrad::Status count(const Tensor& tensor);

 private:
  const PageFolder& folder_;
  std::map<string, Tensor> read_;
  std::set<string> written_;
  int64 elements_ = 0;
};

// <id>.npy, or <id>.<attr>.npy for an attribute other than "value". What a file name should not hold is written %2F;
// long ids are cut and told apart by a hash.
string tensor_file_name(const string& id, const string& attr);

}  // namespace convgrad::graph

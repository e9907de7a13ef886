// One kernel of TensorFlow's: a node's attributes, and the computation over convgrad's public calls.
#pragma once

#include "attributes.h"

namespace convgrad::tensorflow {

class Kernel {
 public:
  Kernel(const OpRow& row, Attributes attributes, int threads)
      : row_(row), attributes_(std::move(attributes)), threads_(threads) {}

  // TensorFlow may call this on several threads at once.
  Status compute(TF_OpKernelContext* context) const;

 private:
  struct Inputs;
  Result<Inputs> inputs(TF_OpKernelContext* context) const;
  Result<Geometry> geometry_of(const Inputs& inputs) const;
  Result<Owned<TF_Tensor>> allocate(TF_OpKernelContext* context, int index, const Shape& shape) const;
  Status write(TF_OpKernelContext* context, int index, const Geometry& geometry, const Inputs& inputs) const;

  const OpRow& row_;
  const Attributes attributes_;
  const int threads_;
};

}  // namespace convgrad::tensorflow

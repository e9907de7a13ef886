// A node's attributes, read once when TensorFlow makes its kernel. What they may be is the library's to say.
#pragma once

#include <string>

#include "api.h"

namespace convgrad::tensorflow {

struct Attributes {
  DType dtype = DType::f32;
  TfDType tf_dtype = 1;
  Shape strides, dilations, explicit_paddings;
  std::string padding, data_format;
};

Result<Attributes> read_attributes(TF_OpKernelConstruction* node, int rank);

}  // namespace convgrad::tensorflow

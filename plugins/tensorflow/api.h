// TensorFlow's C interface, declared by hand and found in the process at run time: one binary for every release, and
// nothing of TensorFlow at build time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "convgrad/status.h"
#include "ops.h"

extern "C" {
struct TF_Status;
struct TF_Tensor;
struct TF_KernelBuilder;
struct TF_OpKernelConstruction;
struct TF_OpKernelContext;
}

namespace convgrad::tensorflow {

using CreateKernel = void*(TF_OpKernelConstruction*);
using ComputeKernel = void(void* kernel, TF_OpKernelContext*);
using DeleteKernel = void(void* kernel);

struct Api {
#define CONVGRAD_TF_FUNCTION(result, name, ...) result (*name)(__VA_ARGS__) = nullptr;
#include "functions.inc"
#undef CONVGRAD_TF_FUNCTION
};

// Looks TensorFlow up once it is in the process; after that it has to be called no more.
Status find_api();
// What find_api() found.
const Api& api();

struct Deleter {
  void operator()(TF_Status* status) const { api().DeleteStatus(status); }
  void operator()(TF_Tensor* tensor) const { api().DeleteTensor(tensor); }
};
template <class T>
using Owned = std::unique_ptr<T, Deleter>;

// A TF_Status, and what it says as ours.
class TfStatus {
 public:
  TfStatus() : status_(api().NewStatus()) {}
  TF_Status* get() { return status_.get(); }
  Status taken() const;
  // Ours as TensorFlow's, with the same sentence.
  TF_Status* set(const Status& status);

 private:
  Owned<TF_Status> status_;
};

}  // namespace convgrad::tensorflow

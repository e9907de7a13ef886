// Registers the rows of ops.inc with TensorFlow, and counts the calls of each.
#include "install.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <new>
#include <utility>

#include "convgrad/system.h"
#include "kernel.h"

namespace convgrad::tensorflow {
namespace {

constexpr std::size_t kTypeCount = std::size(kTfDTypes);

struct Counter {
  std::atomic<bool> registered = false;
  std::atomic<std::uint64_t> calls = 0;
};
Counter counters[kOpCount][kTypeCount];

std::atomic<int> threads = 0;  // of every kernel, as chosen

// What TensorFlow keeps of ours for a node.
struct CountedKernel {
  const Kernel kernel;
  Counter& counter;
};

Counter& counter_of(std::size_t row, DType dtype) {
  std::size_t type = 0;
  while (type + 1 < kTypeCount && kTfDTypes[type].dtype != dtype) ++type;
  return counters[row][type];
}

// Calls body, whose exceptions must not reach TensorFlow.
template <class Body>
Status guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status::out_of_memory();
  } catch (const std::exception& e) {
    return Status::internal(e.what());
  }
}

// TensorFlow hands create() nothing but the node, so the row is part of the function.
template <std::size_t row>
void* create(TF_OpKernelConstruction* node) {
  CountedKernel* made = nullptr;
  const Status status = guarded([&]() -> Status {
    Result<Attributes> attributes = read_attributes(node, info(kOps[row].op).rank);
    if (!attributes.ok()) return attributes.status();
    Counter& counter = counter_of(row, attributes->dtype);
    made = new CountedKernel{Kernel(kOps[row], std::move(*attributes), threads), counter};
    return {};
  });
  if (!status.ok()) api().OpKernelConstruction_Failure(node, TfStatus().set(status));
  return made;
}

void compute(void* kept, TF_OpKernelContext* context) {
  const auto& [kernel, counter] = *static_cast<CountedKernel*>(kept);
  counter.calls.fetch_add(1, std::memory_order_relaxed);
  const Status status = guarded([&] { return kernel.compute(context); });
  if (!status.ok()) api().OpKernelContext_Failure(context, TfStatus().set(status));
}

void destroy(void* kept) { delete static_cast<CountedKernel*>(kept); }

template <std::size_t... rows>
constexpr std::array<CreateKernel*, kOpCount> creators(std::index_sequence<rows...>) {
  return {create<rows>...};
}
constexpr std::array<CreateKernel*, kOpCount> kCreate = creators(std::make_index_sequence<kOpCount>());

// The name of the op's input that holds sizes; TensorFlow is to keep it in host memory.
const char* sizes_argument(const OpRow& row) {
  if (row.sizes != SizesFrom::vector) return nullptr;
  return info(row.op).direction == Direction::input_grad ? "input_sizes" : "filter_sizes";
}

Status register_kernel(std::size_t index, const TfDTypeRow& type) {
  const OpRow& row = kOps[index];
  TfStatus status;
  TF_KernelBuilder* builder = api().NewKernelBuilder(row.name, "CPU", kCreate[index], compute, destroy);
  api().KernelBuilder_TypeConstraint(builder, "T", type.number, status.get());
  if (Status taken = status.taken(); !taken.ok()) {
    api().DeleteKernelBuilder(builder);
    return taken;
  }
  if (const char* sizes = sizes_argument(row)) api().KernelBuilder_HostMemory(builder, sizes);
  if (row.route != Route::own) api().KernelBuilder_Label(builder, "MklNameChangeOp");
  api().KernelBuilder_Priority(builder, 1);  // TensorFlow's own are 0, and of equals it refuses to choose
  const std::string name = "convgrad_" + std::string(row.name) + "_" + std::string(info(type.dtype).id);
  api().RegisterKernelBuilder(name.c_str(), builder, status.get());  // takes the builder
  return status.taken();
}

bool has_bf16_instructions() {
  const auto is_one = [](const std::string& name) { return name == "avx512bf16" || name == "amx_bf16"; };
  const std::vector<std::string> features = system_info().features;
  return std::any_of(features.begin(), features.end(), is_one);
}

// The least convgrad_tensorflow_choice::onednn that takes a row.
int least_choice(Route route) {
  switch (route) {
    case Route::own: return 0;
    case Route::onednn: return 1;
    case Route::onednn_asked: return 2;
    case Route::onednn_no_bf16: return has_bf16_instructions() ? 2 : 1;
  }
  return 2;
}

bool chosen(const OpRow& row, const convgrad_tensorflow_choice& choice) {
  if (info(row.op).direction == Direction::forward && choice.forward == 0) return false;
  return choice.onednn >= least_choice(row.route);
}

Result<int> register_all(const convgrad_tensorflow_choice& choice) {
  int count = 0;
  for (std::size_t row = 0; row < kOpCount; ++row) {
    for (std::size_t type = 0; type < kTypeCount; ++type) {
      if (!chosen(kOps[row], choice) || (kOps[row].dtypes & kTfDTypes[type].bit) == 0) continue;
      CONVGRAD_RETURN_IF_ERROR(register_kernel(row, kTfDTypes[type]));
      counters[row][type].registered = true;
      ++count;
    }
  }
  return count;
}

// Registering twice is not refused by TensorFlow but makes every later kernel lookup fail, so it is refused here.
Result<int> install_once(const convgrad_tensorflow_choice& choice) {
  static std::mutex mutex;
  static bool installed = false;
  const std::lock_guard lock(mutex);
  if (installed) {
    return Status(ErrorDetail{.code = StatusCode::invalid_argument,
                              .message = "convgrad is installed in this process's TensorFlow already; TensorFlow keeps "
                                         "registered kernels until the process ends",
                              .argument = "install"});
  }
  CONVGRAD_RETURN_IF_ERROR(find_api());
  threads = choice.threads;
  installed = true;  // even if a row should fail: those before it stay
  return register_all(choice);
}

}  // namespace
}  // namespace convgrad::tensorflow

using namespace convgrad;
using namespace convgrad::tensorflow;

int32_t convgrad_tensorflow_install(const convgrad_tensorflow_choice* choice, char* message, size_t message_bytes) {
  int count = -1;
  const Status status = guarded([&]() -> Status {
    const Result<int> registered = install_once(*choice);
    if (registered.ok()) count = *registered;
    return registered.status();
  });
  std::snprintf(message, message_bytes, "%s", status.message().c_str());
  return count;
}

int32_t convgrad_tensorflow_stats(int32_t index, convgrad_tensorflow_kernel* kernel) {
  int32_t seen = 0;
  for (std::size_t row = 0; row < kOpCount; ++row) {
    for (std::size_t type = 0; type < kTypeCount; ++type) {
      if ((kOps[row].dtypes & kTfDTypes[type].bit) == 0 || seen++ != index) continue;
      const Counter& counter = counters[row][type];
      *kernel = {kOps[row].name, "", counter.registered ? 1 : 0, counter.calls};
      info(kTfDTypes[type].dtype).numpy_name.copy(kernel->dtype, sizeof kernel->dtype - 1);
      return 1;
    }
  }
  return 0;
}

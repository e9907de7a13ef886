// The custom call of GPUs, on the tests' own CUDA driver and with the functions that XLA would lend it.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>

#include "engines/cuda/host_driver.h"
#include "engines/cuda/runtime/device.h"
#include "jax/frames.h"

namespace convgrad::test {
namespace {

HostDriver& host() {
  setenv("CONVGRAD_CUDA_DRIVER", CONVGRAD_HOST_DRIVER, 1);
  void* const library = dlopen(CONVGRAD_HOST_DRIVER, RTLD_NOW | RTLD_LOCAL);
  return *reinterpret_cast<HostDriverFunction>(dlsym(library, "convgrad_host_driver"))();
}

cuda::Buffer memory_of(int ordinal, std::size_t bytes) {
  const cuda::Device& device = *cuda::Device::of(ordinal).value();
  const cuda::InContext current(device);
  return std::move(*cuda::allocate(device, bytes, nullptr));
}

void give_back(int ordinal, cuda::Buffer& memory) {
  const cuda::InContext current(*cuda::Device::of(ordinal).value());
  memory.reset();
}

// ---- XLA's side of a call ----

int errors_alive = 0;

struct Lender {
  int device = 0;
  void* stream = &errors_alive;  // any address
  std::string refused = {};      // the function that refuses
  cuda::Buffer scratch = {nullptr, {}};
  std::size_t scratch_bytes = 0;
  int lent = 0, taken_back = 0;

  xla::Error* answer(const char* function) const {
    if (refused != function) return nullptr;
    ++errors_alive;
    return new xla::Error{"XLA has no " + refused, 0};
  }
};

Lender& lender_of(void* context) { return *static_cast<Lender*>(context); }

xla::Error* lend_device(xla::DeviceArgs* args) {
  args->number = lender_of(args->context).device;
  return lender_of(args->context).answer("device");
}

xla::Error* lend_stream(xla::StreamArgs* args) {
  args->stream = lender_of(args->context).stream;
  return lender_of(args->context).answer("stream");
}

xla::Error* lend_memory(xla::AllocateArgs* args) {
  Lender& lender = lender_of(args->context);
  if (xla::Error* const error = lender.answer("memory")) return error;
  EXPECT_EQ(args->alignment, 256u);
  lender.scratch = memory_of(lender.device, args->bytes);
  lender.scratch_bytes = args->bytes;
  ++lender.lent;
  args->data = lender.scratch.get();
  return nullptr;
}

xla::Error* take_memory_back(xla::FreeArgs* args) {
  Lender& lender = lender_of(args->context);
  EXPECT_EQ(args->data, lender.scratch.get());
  EXPECT_EQ(args->bytes, lender.scratch_bytes);
  give_back(lender.device, lender.scratch);
  ++lender.taken_back;
  return lender.answer("end");
}

void say(xla::ErrorMessageArgs* args) { args->message = args->error->message.c_str(); }

void destroy(xla::ErrorDestroyArgs* args) {
  delete args->error;
  --errors_alive;
}

xla::GpuApi gpu_api(const xla::Api& base) {
  xla::GpuApi api{};
  api.base = base;
  api.base.struct_size = sizeof(api);
  api.error_message = say;
  api.destroy_error = destroy;
  api.stream = lend_stream;
  api.allocate = lend_memory;
  api.free = take_memory_back;
  api.device = lend_device;
  return api;
}

// ---- Calls ----

// A filter gradient of many channels, which has a workspace; its tensors lie on a GPU.
struct GpuCall {
  Call call{{2, 40, 16}, {2, 40, 16}, {3, 16, 16}};
  Lender lender;
  xla::GpuApi api = gpu_api(call.api);
  cuda::Buffer memory[3] = {{nullptr, {}}, {nullptr, {}}, {nullptr, {}}};

  explicit GpuCall(int device = 0) {
    host();
    lender.device = device;
    call.op = {"conv1d_backprop_filter", 22};
    call.padding = {"SAME", 4};
    call.frame.api = &api.base;
    call.frame.context = &lender;
    move(0, call.input, call.first);
    move(1, call.filter, call.second);
    move(2, call.output, call.result);
  }
  ~GpuCall() {
    for (cuda::Buffer& tensor : memory) give_back(lender.device, tensor);
  }
  GpuCall(const GpuCall&) = delete;
  GpuCall& operator=(const GpuCall&) = delete;

  void move(int place, const std::vector<float>& values, xla::Buffer& buffer) {
    memory[place] = memory_of(lender.device, values.size() * sizeof(float));
    std::memcpy(memory[place].get(), values.data(), values.size() * sizeof(float));
    buffer.data = memory[place].get();
  }

  Answer run() { return call.run(convgrad_jax_conv_cuda); }

  std::vector<float> result() const {
    const auto* const begin = static_cast<const float*>(memory[2].get());
    return {begin, begin + call.output.size()};
  }
};

std::vector<float> by_the_cpu() {
  Call call{{2, 40, 16}, {2, 40, 16}, {3, 16, 16}};
  call.op = {"conv1d_backprop_filter", 22};
  call.padding = {"SAME", 4};
  EXPECT_EQ(call.run().message, "");
  return call.output;
}

class JaxGpuHandler : public testing::Test {
 protected:
  // Nothing is left behind.
  void TearDown() override {
    EXPECT_EQ(host().buffers, 0u);
    EXPECT_EQ(host().contexts, 0u);
    EXPECT_EQ(host().overruns, 0u);
    EXPECT_EQ(errors_alive, 0);
  }
};

TEST_F(JaxGpuHandler, ComputesInPlaceOnXlasStreamInXlasMemory) {
  GpuCall gpu;
  const std::map<std::string, int> before = host().calls;
  EXPECT_EQ(gpu.run().message, "");
  EXPECT_EQ(gpu.result(), by_the_cpu());  // sums of small integers have no rounding
  EXPECT_EQ(host().stream, gpu.lender.stream);
  EXPECT_EQ(gpu.lender.lent, 1);
  EXPECT_EQ(gpu.lender.taken_back, 1);
  EXPECT_EQ(host().calls["cuMemAllocAsync"], before.at("cuMemAllocAsync") + 1);  // the lender's own
  for (const char* silent : {"cuStreamSynchronize", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuStreamCreate"})
    EXPECT_EQ(host().calls[silent], 0) << silent;
}

TEST_F(JaxGpuHandler, AsksForNoMemoryWithoutAWorkspace) {
  GpuCall gpu;
  gpu.call.op = {"conv1d", 6};
  gpu.call.input_dims = {1, 4, 1};
  gpu.call.filter_dims = {1, 1, 1};
  gpu.call.output_dims = {1, 4, 1};
  EXPECT_EQ(gpu.run().message, "");
  EXPECT_EQ(gpu.lender.lent, 0);
  const std::vector<float> result = gpu.result();
  EXPECT_EQ(std::vector<float>(result.begin(), result.begin() + 5), (std::vector<float>{1, 2, 3, 4, -1}));
}

TEST_F(JaxGpuHandler, RunsOnTheGpuThatXlaNames) {
  host().devices = 2;
  {
    GpuCall gpu(1);
    EXPECT_EQ(gpu.run().message, "");
    EXPECT_EQ(gpu.result(), by_the_cpu());
    gpu.lender.device = 0;  // where the tensors are not
    const Answer answer = gpu.run();
    EXPECT_EQ(answer.code, kInvalidArgument);
    EXPECT_NE(answer.message.find("got memory of GPU 1, wanted memory of GPU 0"), std::string::npos) << answer.message;
    EXPECT_EQ(gpu.lender.lent, gpu.lender.taken_back);
    gpu.lender.device = 1;
  }
  host().devices = 1;
}

TEST_F(JaxGpuHandler, RefusesMemoryOfTheHostByName) {
  GpuCall gpu;
  gpu.call.second.data = gpu.call.filter.data();
  const Answer answer = gpu.run();
  EXPECT_EQ(answer.code, kInvalidArgument);
  EXPECT_NE(answer.message.find("out_backprop: got memory of the host"), std::string::npos) << answer.message;
}

TEST_F(JaxGpuHandler, HandsXlasRefusalsOn) {
  for (const auto& [function, code] :
       {std::pair{"device", kInternal}, {"stream", kInternal}, {"memory", kResourceExhausted}}) {
    GpuCall gpu;
    gpu.lender.refused = function;
    const Answer answer = gpu.run();
    EXPECT_EQ(answer.code, code) << function;
    EXPECT_EQ(answer.message, std::string("XLA has no ") + function);
    EXPECT_EQ(gpu.result(), std::vector<float>(gpu.call.output.size(), -1));
  }
}

TEST_F(JaxGpuHandler, DoesNotMindMemoryThatIsNotTakenBack) {
  GpuCall gpu;
  gpu.lender.refused = "end";
  EXPECT_EQ(gpu.run().code, 0);
  EXPECT_EQ(gpu.result(), by_the_cpu());
}

TEST_F(JaxGpuHandler, RefusesWhatTheEngineRefuses) {
  GpuCall gpu;
  gpu.lender.device = 5;
  const Answer answer = gpu.run();
  gpu.lender.device = 0;
  EXPECT_EQ(answer.code, kUnimplemented);
  EXPECT_NE(answer.message.find("there is no such GPU"), std::string::npos) << answer.message;
}

TEST_F(JaxGpuHandler, RefusesAnInterfaceThatDoesNotNameTheGpu) {
  GpuCall gpu;
  gpu.api.base.struct_size = sizeof(xla::GpuApi) - 2 * sizeof(void*);  // jaxlib 0.5
  const Answer answer = gpu.run();
  EXPECT_EQ(answer.code, kUnimplemented);
  EXPECT_NE(answer.message.find("on which GPU"), std::string::npos) << answer.message;
  gpu.api.base.struct_size = 24;  // smaller than every version's: nothing can be said
  EXPECT_EQ(gpu.run().code, 0);
  EXPECT_EQ(gpu.result(), std::vector<float>(gpu.call.output.size(), -1));
}

TEST_F(JaxGpuHandler, SpeaksTheVersionOfTheCpus) {
  const Call call;
  const Spoken spoken = spoken_by(convgrad_jax_conv_cuda, &call.api);
  EXPECT_EQ(spoken.major, 0);
  EXPECT_EQ(spoken.minor, 3);
  EXPECT_EQ(spoken.traits, 0u);
}

}  // namespace
}  // namespace convgrad::test

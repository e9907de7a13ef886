#include "support/cuda_machine/launches.h"

#include "engines/cuda/kernels/list.h"

namespace convgrad::cuda {
namespace {

template <class Body>
void run_body(const void* args) {
  Body::run(*static_cast<const typename Body::Args*>(args));
}

std::string run_launch(const Launch& launch, std::uint64_t seed) {
  KernelArgs args = launch.args;
  for (std::size_t i = 0; i < launch.boxes.size(); ++i) std::get<ConvArgs>(args).maps[i] = host_map(launch.boxes[i]);
  const Grid grid{launch.blocks, static_cast<unsigned>(info(launch.kernel).threads), launch.shared_bytes, seed};
  return std::visit([&](const auto& some) { return run_kernel(launch.kernel, grid, &some); }, args);
}

}  // namespace

std::string run_kernel(Kernel kernel, const Grid& grid, const void* args) {
  static constexpr void (*bodies[])(const void*) = {
#define CONVGRAD_CUDA_KERNEL(group, name, ...) run_body<__VA_ARGS__>,
#include "engines/cuda/kernels.inc"
#undef CONVGRAD_CUDA_KERNEL
  };
  const auto body = bodies[static_cast<int>(kernel)];
  const std::string complaint = run_on_host(grid, [&] { body(args); });
  return complaint.empty() ? "" : std::string(info(kernel).name) + ": " + complaint;
}

std::string run_launches(const std::vector<Launch>& launches, std::uint64_t seed) {
  for (const Launch& launch : launches) {
    if (std::string complaint = run_launch(launch, seed++); !complaint.empty()) return complaint;
  }
  return "";
}

}  // namespace convgrad::cuda

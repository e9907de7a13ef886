// The compiled kernels inside this library: an image for each group of kernels.inc. A build without CONVGRAD_CUDA has
// none.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace convgrad::cuda {

bool has_images();
std::span<const std::byte> image(std::string_view group);  // empty: there is none

}  // namespace convgrad::cuda

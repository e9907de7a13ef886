// Kernels by name: <direction>_<dtype>[_half][_gather|_boxes]_<rows>x<columns>, and the others of kernels.inc.
#pragma once

#include <optional>
#include <string>

#include "engines/cuda/program.h"

namespace convgrad::cuda {

std::optional<Kernel> kernel_named(std::string_view name);
std::string tiled(std::string_view family, int columns);

// Stages of a tile: those that a loader's copies under way take and one more, at the least.
inline constexpr int kLeastStages = 3, kMostStages = 8;

// The narrowest of a family that has the columns, else its widest, of those that this GPU has the memory and the
// instructions for; none: there is no such family.
std::optional<Kernel> kernel_of(std::string_view family, std::int64_t columns, const Hardware& hardware);

// The families whose sums have the same bits: with and without boxes.
struct Families {
  std::string any, boxes;
};
Families families_of(const Geometry& geometry, const Hardware& hardware, int row_bytes);

}  // namespace convgrad::cuda

// Operands as kernels find them: where they are, by the copy engine or by threads, or packed in the workspace.
#pragma once

#include "engines/cuda/program.h"

namespace convgrad::cuda {

// Rows of shared memory in which the field's channels leave the least empty: 64 bytes of 16-bit elements, where their
// second half would be.
int row_bytes_for(const Geometry& geometry, std::int64_t size);

// Of elements of `size` bytes, channels last, whose tensors have whole pieces of channels: whether the copy engine
// should fill the tiles.
bool boxes_fit(const Geometry& geometry, const AxisRule (&axes)[3], std::int64_t size);
bool readable_as_it_is(const Geometry& geometry);
// Into 16-bit elements; f64 is gathered as it is, for a copy of it would take as long as its sums.
bool packable(const Geometry& geometry);

// The next 256-byte boundary of the workspace.
std::int64_t aligned_up(std::int64_t bytes);

// Gives both operands a place in the workspace.
void pack_operands(Program& program);

// What the stored operands are like: packed, or as the caller has them.
std::int64_t field_channels_stored(const Program& program);
std::int64_t dense_channels_stored(const Program& program);
Layout layout_stored(const Program& program);

// Copies both operands into their places, where args then finds them.
void repack(const Program& program, const Buffers& buffers, ConvArgs& args, std::vector<Launch>& launches);

// Whether the copy engine can start there.
bool aligned(const void* address);
// The maps of ConvArgs.
std::vector<Box> boxes_of(const Program& program, const ConvArgs& args, const TileInfo& tile);
// How threads copy instead, at these addresses.
void set_copies(ConvArgs& args, const Geometry& geometry);

}  // namespace convgrad::cuda

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
// Whether the copy engine can read an operand as the caller has it.
bool field_readable(const Geometry& geometry);
bool dense_readable(const Geometry& geometry);
// Into 16-bit elements; f64 is gathered as it is, for a copy of it would take as long as its sums.
bool packable(const Geometry& geometry);

// The next 256-byte boundary of the workspace.
std::int64_t aligned_up(std::int64_t bytes);

// Gives an operand a place in the workspace.
void pack_field(Program& program);
void pack_dense(Program& program);

// What the stored operands are like: packed, or as the caller has them.
std::int64_t field_channels_stored(const Program& program);
std::int64_t dense_channels_stored(const Program& program);
Layout field_layout_stored(const Program& program);
Layout dense_layout_stored(const Program& program);

// Copies operands into the places they have, where args then finds them.
void repack(const Program& program, const Buffers& buffers, ConvArgs& args, std::vector<Launch>& launches);

// Whether the copy engine can start there.
bool aligned(const void* address);
// The maps of ConvArgs.
std::vector<Box> boxes_of(const Program& program, const ConvArgs& args, const TileInfo& tile);
// How threads copy instead, at these addresses.
void set_copies(const Program& program, ConvArgs& args);

}  // namespace convgrad::cuda

// The kinds of program behind program_for(), a file each.
#pragma once

#include <string_view>

#include "engines/cuda/program.h"

namespace convgrad::cuda {

// Tiles of matrices (program.cc).
Program convolution(const Geometry& geometry, const Hardware& hardware, MathMode math);
std::vector<Launch> conv_launches(const Program& program, const Buffers& buffers);
// Gives args the addresses of the operands and the result, and returns the launches that pack the operands first.
std::vector<Launch> operands_in_place(const Program& program, const Buffers& buffers, ConvArgs& args);

// Patches with their halo instead of the plain program's tiles (halo_program.cc, halo_filter_program.cc); none: no
// gain.
std::optional<Program> halo_convolution(const Program& plain);
std::vector<Launch> halo_launches(const Program& program, const Buffers& buffers);
std::optional<Program> halo_filter_gradient(const Program& plain);
std::vector<Launch> halo_filter_launches(const Program& program, const Buffers& buffers);

// Groups of few channels (direct_program.cc).
bool has_few_channels(const Geometry& geometry);
Program direct_convolution(const Geometry& geometry, const Hardware& hardware);
std::vector<Launch> direct_launches(const Program& program, const Buffers& buffers);

// Depthwise ones of them, in strips (strip_program.cc).
bool takes_strips(const Geometry& geometry);
Program strip_convolution(const Geometry& geometry, const Hardware& hardware);
std::vector<Launch> strip_launches(const Program& program, const Buffers& buffers);

// Sums of dy (bias_program.cc).
Program bias_gradient(const Geometry& geometry, const Hardware& hardware);
std::vector<Launch> bias_launches(const Program& program, const Buffers& buffers);

// Slices for some 8 blocks on each of 132 multiprocessors, of 1024 terms at least.
std::int64_t slices_for(std::int64_t terms, std::int64_t blocks);
// Of the sums that slices leave which keep their rounding errors.
std::int64_t exact_bytes(DType dtype);

// Gives sums of so many elements, for each slice, a place in the workspace.
void keep_sums(Program& program, std::int64_t elements, std::int64_t sum_bytes);
void* in_workspace(const Buffers& buffers, std::int64_t at);
// Adds the program's slices; stem: "slices", or "exact_slices" where they keep their rounding errors.
Launch reduction(const Program& program, std::string_view stem, const Buffers& buffers);

}  // namespace convgrad::cuda

// A problem as products of matrices (ConvArgs): their sizes, and how the tensors behind them lie.
#pragma once

#include "convgrad/geometry.h"
#include "engines/cuda/tiling.h"

namespace convgrad::cuda {

// Forward and the input gradient gather pixels through taps; the filter gradient sums over them.
bool gathers(const Geometry& geometry);
std::int64_t field_channels(const Geometry& geometry);   // in a group
std::int64_t result_channels(const Geometry& geometry);  // in a group
std::int64_t taps_of(const Geometry& geometry);
std::int64_t pixels_of(const Extents& extents);
std::int64_t phases_of(const AxisRule (&axes)[3]);
bool sixteen_bits(DType dtype);

ImageStrides image_strides(Layout layout, std::int64_t channels, const Extents& extents);
ImageStrides input_strides(const Geometry& geometry);
ImageStrides output_strides(const Geometry& geometry);

// The pixels that a tile's rows (gathers) or a step's terms (filter gradient) are taken from.
PixelGrid pixel_grid(const Geometry& geometry, const AxisRule (&axes)[3]);

}  // namespace convgrad::cuda

// What kernels are given: numbers and addresses, by value.
#pragma once

#include <cstdint>

#include "engines/cuda/atoms/atoms.h"
#include "engines/cuda/kernels/axis.h"
#include "engines/cuda/kernels/patches.h"

namespace convgrad::cuda {

// Elements from one image, plane, row, column and channel of a tensor to the next.
struct ImageStrides {
  std::int64_t n, d, h, w, c;
};

// Bytes that one copy into shared memory takes, and whether neighbouring threads copy along the sum (else across it).
struct CopyShape {
  int bytes;
  bool along_sum;
};

// What kernels that load a patch of pixels with its halo have besides.
struct Halo {
  int box_width = 0, box_height = 0, box_depth = 1;
  Divider workers;  // blocks that share the columns of patches, or the rows of a filter gradient
  // Gathers (kernels/halo.h): columns of patches through the planes of an image, cut into parts.
  Divider plane_patches;  // patches of one plane
  Divider parts;          // of a column
  int planes = 0;         // of a part
  int columns = 0;        // parts of columns, over all images
  int taps = 0;           // of a phase, at most
};

// An image whose channels hold taps: channel (tap, c) of its pixel q is channel c of the source at q seen through the
// tap, zero where that falls on padding. An axis that is not folded has one tap, which is the pixel itself.
struct FoldedTaps {
  bool folded = false;
  Divider channels;       // of the source
  Divider columns, rows;  // taps along w and h
  Axis axes[3];
};

// A convolution in any direction as products of two matrices, one for each group and phase:
//
//   result[m][n] = sum over k of field[m][k] * dense[k][n]
//
//                    m                        k                        n
//   forward          output pixel             (tap, input channel)     output channel
//   input_grad       input pixel of a phase   (tap, output channel)    input channel
//   filter_grad      (tap, input channel)     output pixel             output channel
//
// field is x (dy for input_grad) seen through the taps: zero where a tap falls on padding. dense is the filter, or dy.
// A field that is x with taps in its channels has zeros of its own for padding.
struct ConvArgs {
  TensorMap maps[6];  // for kernels that load boxes: of the field's planes, then of the dense operand's
  const void* field;
  const void* dense;
  int planes;                             // of each operand: 2 or 3 for f32 on warpgroups, otherwise 1
  std::int64_t field_plane, dense_plane;  // elements from one plane to the next, where there are several
  void* result;  // filter_grad with slices: their sums, one after another, in the accumulator's type
  ImageStrides field_strides;
  ImageStrides image_strides;  // of the other image: the result of a gather, dy of the filter gradient
  std::int64_t filter_tap, filter_in, filter_out;  // strides of the filter, or of its gradient
  AxisRule axes[3];
  Patches patches;  // of a tile's pixels; filter_grad: of one step's
  int images;
  int channels;                                // of field, in a group
  Divider channel_pitch;                       // columns from one tap to the next in the flat index (tap, channel)
  int results;                                 // n, in a group
  int field_group, dense_group, result_group;  // channels from one group to the next
  Divider m_tiles, n_tiles, groups;            // blocks are numbered n, m, phase, group, slice, the first fastest
  Divider phases, phase_rows, phase_columns;
  int steps;            // filter_grad: patches in a slice; gathers count their own
  std::int64_t slice;   // elements of the sums of one slice; 0: the result itself is written, not sums
  int stages, tile_at;  // ring of stages; where the tile's sums lie in shared memory
  CopyShape field_copy, dense_copy;
  Halo halo;
  FoldedTaps taps;  // in the field's channels
};

// A convolution of groups of few channels, result by result. Channels, results and strides as in ConvArgs.
struct DirectArgs {
  const void* field;
  const void* dense;
  void* result;  // filter_grad: the sums of slices
  ImageStrides field_strides, image_strides;
  std::int64_t filter_tap, filter_channel, filter_result, filter_group;  // strides of the filter
  AxisRule axes[3];
  Divider strides[3];             // input_grad: of the convolution
  Divider columns, rows, planes;  // of the image whose pixels are numbered: the result, or dy
  std::int64_t pixels;            // of all its images
  int channels, group_results;    // of the field and of the result, in a group
  std::int64_t results;           // over all groups
  int filter_columns;             // filter_grad: taps * channels
  std::int64_t slice_pixels;
};

// Of the axis along strips, where it differs between the phases of an input gradient: see Axis.
struct StripPhase {
  int pixels, taps, origin, tap_first;
};

// As ImageStrides, of images with fewer than 2^31 elements.
struct StripStrides {
  std::int64_t n;
  int d, h, w, c;
};

// A depthwise convolution in strips of neighbouring pixels along one axis (kernels/strips.h). Strips of one channel are
// numbered: coordinate across modulo `across_low`, strip of a phase, phase, the rest of across, plane, image, the first
// fastest, so that a block's strips share rows of the field.
struct StripArgs {
  const void* field;
  const void* dense;
  void* result;  // filter_grad: the sums of slices
  StripStrides field_strides, image_strides;
  AxisRule axes[3];
  Divider strides[3];      // input_grad: of the convolution
  StripPhase phases[2];    // of the axis of strips
  int extent;              // of the field along that axis
  int step;                // from one pixel of a strip to the next in the field
  int spacing;             // in the result, from one pixel of a phase to the next
  StripStrides taps;       // of the filter
  int row_step, tap_step;  // in the filter, from one tap of a phase to the next: across strips, along them
  int across;              // pixels along the other axis
  int channels;
  Divider across_low, strips, across_high, planes;
  Divider phase_strips;
  // Channels-last: pieces of channels, numbered faster than strips. Channels-first: strips of a channel. filter_grad:
  // blocks for all channels, then for all taps.
  Divider inner;
  Divider tiles_along, tiles_across, tiles_d;
  int units;         // strips times pieces; filter_grad: strips
  int slice_strips;  // filter_grad
};

// A tensor as the copy engine reads it: to[plane][image][pixel][channel], channels-last, zeros up to `padded` channels.
struct RepackArgs {
  const void* from;
  void* to;
  std::int64_t images, pixels, channels, padded;
  std::int64_t image_stride, pixel_stride, channel_stride;  // of from
  std::int64_t plane;                                       // elements of one plane of to
  int planes;                                               // that are written
};

// An image with taps in its channels: to[plane][pixel][(tap, c)], zeros up to whole pieces of channels.
struct FoldArgs {
  const void* from;
  void* to;
  ImageStrides from_strides;
  FoldedTaps taps;
  int channels;                           // with their taps
  Divider pieces, columns, rows, planes;  // of a pixel; pixels of to along w, h and d
  int pixels;                             // over all images
  std::int64_t plane;                     // elements of one plane of to
  int stored;                             // planes that are written
};

// The gradient of an image from that of the same with taps in its channels:
//
//   result[i][c] = sum over taps t and pixels o of sums[o][(t, c)] where o reads i through t
struct UnfoldArgs {
  const float* sums;
  void* result;
  ImageStrides strides, result_strides;  // of sums, of the result
  AxisRule axes[3];                      // of an input gradient; one tap, the pixel itself, where an axis is not folded
  Divider steps[3];                      // their strides
  int channels;                          // of the result
  Divider parts, columns, rows, planes;  // parts of its channels that threads have; its pixels along w, h and d
  int count;                             // of parts, over all pixels
};

// result[i] = sum over slices of sums[slice][i], in order.
struct ReduceArgs {
  const void* sums;
  void* result;
  std::int64_t count;
  int slices;
};

// result[c] = sum of dy over pixels, channel c; pixels in slices, whose sums lie one after another.
struct BiasArgs {
  const void* dy;
  void* sums;  // double: high and low part for each slice and channel
  std::int64_t images, pixels, channels;
  std::int64_t image_stride, pixel_stride, channel_stride;
  std::int64_t slice_pixels;
};

}  // namespace convgrad::cuda

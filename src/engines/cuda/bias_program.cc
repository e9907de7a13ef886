// Programs for the bias gradient, and the sums of slices that all programs share.
#include <algorithm>

#include "base/text.h"
#include "engines/cuda/kernel_choice.h"
#include "engines/cuda/kernels/sums.h"
#include "engines/cuda/matrices.h"
#include "engines/cuda/program_parts.h"
#include "geometry/shapes.h"

namespace convgrad::cuda {

std::int64_t slices_for(std::int64_t terms, std::int64_t blocks) {
  const std::int64_t most = std::max<std::int64_t>(1, 8 * 132 / std::max<std::int64_t>(1, blocks));
  return std::clamp<std::int64_t>(ceil_div(terms, 1024), 1, most);
}

std::int64_t exact_bytes(DType dtype) { return dtype == DType::i32 ? 4 : 8; }

void* in_workspace(const Buffers& buffers, std::int64_t at) { return static_cast<std::byte*>(buffers.workspace) + at; }

Launch reduction(const Program& p, std::string_view stem, const Buffers& buffers) {
  const std::int64_t count = fixed_result_shape(p.geometry).elements();
  const Kernel kernel = *kernel_named(concat(stem, "_", info(p.geometry.dtype).id));
  return {.kernel = kernel,
          .blocks = static_cast<unsigned>(ceil_div(count, kReduceColumns)),
          .shared_bytes = info(kernel).shared_bytes,
          .args = ReduceArgs{in_workspace(buffers, p.sums_at), buffers.result, count, static_cast<int>(p.slices)},
          .boxes = {}};
}

Program bias_gradient(const Geometry& g, const Hardware& hardware) {
  Program p;
  p.geometry = g;
  p.hardware = hardware;
  const bool planar = g.layout == Layout::channels_first;
  p.any = kernel_named(concat(planar ? "bias_first_" : "bias_last_", info(g.dtype).id));
  const ImageStrides s = output_strides(g);
  p.bias.images = pixels_of(g.out) > 0 ? g.n : 0;
  p.bias.pixels = std::max<std::int64_t>(1, pixels_of(g.out));
  p.bias.channels = g.c_out;
  p.bias.image_stride = s.n;
  p.bias.pixel_stride = s.w;
  p.bias.channel_stride = s.c;
  const std::int64_t groups = ceil_div(g.c_out, team_channels(planar)), all = p.bias.images * p.bias.pixels;
  p.slices = slices_for(all, groups);
  p.bias.slice_pixels = std::max<std::int64_t>(1, ceil_div(all, p.slices));
  p.workspace_bytes = p.slices * g.c_out * exact_bytes(g.dtype);
  p.blocks = static_cast<unsigned>(groups * p.slices);
  p.make_launches = &bias_launches;
  p.why = concat("sums in double in ", p.slices, " slices, added in order");
  return p;
}

std::vector<Launch> bias_launches(const Program& p, const Buffers& buffers) {
  BiasArgs args = p.bias;
  args.dy = buffers.first;
  args.sums = buffers.workspace;
  return {{*p.any, p.blocks, info(*p.any).shared_bytes, args, {}}, reduction(p, "exact_slices", buffers)};
}

}  // namespace convgrad::cuda

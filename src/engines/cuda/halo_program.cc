// Programs that load patches of pixels with their halo (kernels/halo.h).
#include <algorithm>

#include "base/text.h"
#include "engines/cuda/halo_cut.h"
#include "engines/cuda/kernel_choice.h"
#include "engines/cuda/kernels/halo.h"
#include "engines/cuda/matrices.h"
#include "engines/cuda/operands.h"
#include "engines/cuda/program_parts.h"

namespace convgrad::cuda {
namespace {

constexpr std::int64_t kAtOnce = 132;  // blocks; a constant as in tiling.cc, though no bit depends on it here

// A halo is worth loading where a box is at most half of what a box a tap would be. A sum must be one block, whose
// chunks can stay in registers.
bool worth_it(const Program& p, const HaloCut& cut) {
  return cut.fits(p) && cut.taps() * info(*p.boxes).tile.terms <= kBlockTerms &&
         2 * cut.width * cut.height <= cut.h.taps * cut.w.taps * kHaloRows;
}

// Planes of a part: few parts reload few planes at their seams, many fill all workers to the end. A plane that is only
// loaded takes some 0.3 of one that is multiplied as well (a model).
std::int64_t planes_of_part(const HaloCut& cut, std::int64_t workers) {
  const std::int64_t all = std::max<std::int64_t>(1, cut.grid.extents[0]);
  std::int64_t best = all;
  double least = -1;
  for (std::int64_t parts = 1; parts <= all; ++parts) {
    const std::int64_t planes = ceil_div(all, parts);
    const std::int64_t columns = cut.grid.images * ceil_div(all, planes) * cut.rows() * cut.columns();
    const double cost = static_cast<double>(ceil_div(columns, workers * kHaloTeams)) *
                        (static_cast<double>(planes) + 0.3 * static_cast<double>(cut.d.pixels - 1));
    if (least >= 0 && cost >= least) continue;
    least = cost;
    best = planes;
  }
  return best;
}

void set_columns(Program& p, const HaloCut& cut, const TileInfo& tile) {
  ConvArgs& a = p.conv;
  const std::int64_t n_tiles = ceil_div(a.results, tile.columns);
  a.n_tiles = Divider(std::max<std::int64_t>(1, n_tiles));
  const std::int64_t shares = n_tiles * phases_of(a.axes) * p.geometry.groups;
  const std::int64_t at_once = std::max<std::int64_t>(1, kAtOnce / std::max<std::int64_t>(1, shares));
  const std::int64_t planes = planes_of_part(cut, at_once), parts = ceil_div(cut.grid.extents[0], planes);
  const std::int64_t columns = cut.grid.images * parts * cut.rows() * cut.columns();
  const std::int64_t workers = std::clamp<std::int64_t>(ceil_div(columns, kHaloTeams), 1, at_once);
  a.halo = {.box_width = static_cast<int>(cut.width),
            .box_height = static_cast<int>(cut.height),
            .workers = Divider(workers),
            .plane_patches = Divider(std::max<std::int64_t>(1, cut.rows() * cut.columns())),
            .parts = Divider(std::max<std::int64_t>(1, parts)),
            .planes = static_cast<int>(planes),
            .columns = static_cast<int>(columns),
            .taps = static_cast<int>(cut.taps())};
  p.blocks = static_cast<unsigned>(shares * workers);
}

// As many boxes as fit, one more than a patch reads at least; false: too few do.
bool set_slots(ConvArgs& a, const HaloCut& cut, const TileInfo& tile, unsigned limit) {
  for (a.stages = static_cast<int>(cut.d.pixels) + 5; a.stages > cut.d.pixels; --a.stages)
    if (tile.shared_bytes(a) <= limit) return true;
  return false;
}

// The plain program's arguments for a kernel of so many columns; none: its filter does not fit.
std::optional<Program> cut_for(const Program& plain, const HaloCut& cut, int columns) {
  const Geometry& g = plain.geometry;
  const bool half = info(*plain.boxes).tile.row_bytes == 64;
  Program p = plain;
  p.boxes = kernel_named(
      concat(name(g.direction), "_", info(g.dtype).id, half ? "_half" : "", "_halo_", kHaloRows, "x", columns));
  const TileInfo& tile = info(*p.boxes).tile;
  cut.set_patches(p.conv);
  set_columns(p, cut, tile);
  if (!set_slots(p.conv, cut, tile, p.hardware.shared_bytes)) return std::nullopt;
  p.make_launches = &halo_launches;
  p.why = concat("tensor cores on tiles of ", tile.rows, " x ", tile.columns, ", ",
                 p.fold ? text_of(*p.fold) + ", " : "", p.field || p.dense ? "copied channels-last, " : "",
                 "patches loaded once with their halo, the filter kept in ", "shared memory");
  return p;
}

}  // namespace

// Of 64 columns where their filter fits. Tiles of 32 are held to some 515 TF/s by shared memory (measured): more than
// plain tiles of 64 columns get from the second cache, less than those of 128.
std::optional<Program> halo_convolution(const Program& plain) {
  const HaloCut cut(plain);
  if (!worth_it(plain, cut)) return std::nullopt;
  std::optional<Program> wide = plain.conv.results > 32 ? cut_for(plain, cut, 64) : std::nullopt;
  return wide || plain.conv.results > 64 ? wide : cut_for(plain, cut, 32);
}

std::vector<Launch> halo_launches(const Program& p, const Buffers& buffers) {
  ConvArgs args = p.conv;
  std::vector<Launch> all = operands_in_place(p, buffers, args);
  if (!aligned(args.field) || !aligned(args.dense))
    return conv_launches(convolution(p.geometry, p.hardware, p.math()), buffers);
  const TileInfo& tile = info(*p.boxes).tile;
  std::vector<Box> boxes = boxes_of(p, args, tile);
  boxes[0].box[1] = args.halo.box_width;
  boxes[0].box[2] = args.halo.box_height;
  if (p.geometry.direction == Direction::forward) {  // a row of the filter is the tile's output channels
    boxes[1].box[0] = tile.columns;
    boxes[1].swizzle_bytes = 2 * tile.columns;
  }
  all.push_back({*p.boxes, p.blocks, tile.shared_bytes(args), args, boxes});
  return all;
}

}  // namespace convgrad::cuda

// Filter gradients whose patches are loaded with their halo (kernels/halo_filter.h).
#include <algorithm>

#include "base/text.h"
#include "engines/cuda/halo_cut.h"
#include "engines/cuda/kernel_choice.h"
#include "engines/cuda/kernels/halo_filter.h"
#include "engines/cuda/operands.h"
#include "engines/cuda/program_parts.h"
#include "geometry/shapes.h"

namespace convgrad::cuda {
namespace {

constexpr int kTileRows = 64;
constexpr int kMostStages = 6, kLeastStages = 2;
// What every GPU of this generation has. The cut into slices depends on it, so it is not asked of the device.
constexpr unsigned kSharedBytes = 227 * 1024;

int columns_for(const Program& p) { return p.conv.results > 32 ? 64 : 32; }

std::string family(const Program& p, std::string_view loader) {
  return concat(name(p.geometry.direction), "_", info(p.geometry.dtype).id, loader);
}

// Slices, given the blocks that share a patch; each step is a patch.
void set_slices(Program& p, std::int64_t blocks) {
  ConvArgs& a = p.conv;
  const std::int64_t elements = fixed_result_shape(p.product()).elements();
  const std::int64_t most = 64 * kBlockTerms / kHaloRows;
  a.steps = static_cast<int>(
      steps_of_slice({blocks, a.patches.count, most, elements * static_cast<std::int64_t>(sizeof(float))}));
  p.slices = std::max<std::int64_t>(1, ceil_div(a.patches.count, a.steps));
  if (p.slices > 1) keep_sums(p, elements, sizeof(float));
  p.blocks = static_cast<unsigned>(blocks * p.slices);
}

bool set_stages(ConvArgs& a, const TileInfo& tile, unsigned limit) {
  const bool one_block = std::int64_t{a.steps} * kHaloRows <= kBlockTerms;
  for (a.stages = kMostStages; a.stages >= kLeastStages; --a.stages) {
    const std::int64_t box = std::int64_t{a.halo.box_width} * a.halo.box_height * a.halo.box_depth * tile.row_bytes;
    const std::int64_t stage = ceil_div(box, 1024) * 1024 + 2 * kHaloRows * tile.columns;
    a.tile_at = one_block ? 0 : static_cast<int>(a.stages * stage);
    if (a.stages * stage < kSharedBytes && tile.shared_bytes(a) <= limit) return true;
  }
  return false;
}

// Planes of the field that the taps of one block reach across, at most.
std::int64_t depth_of_box(const HaloCut& cut, std::int64_t block_taps) {
  const std::int64_t plane = cut.h.taps * cut.w.taps,
                     reach = cut.d.taps > 1 ? (cut.d.pixels - 1) / (cut.d.taps - 1) : 0;
  std::int64_t most = 0;
  for (std::int64_t first = 0; first < cut.taps(); first += block_taps) {
    const std::int64_t last = std::min(cut.taps(), first + block_taps) - 1;
    most = std::max(most, last / plane - first / plane);
  }
  return most * reach + 1;
}

// The plain program cut for a kernel of `tiles` tiles a warpgroup; none: they do not fit.
std::optional<Program> cut_for(const Program& plain, const HaloCut& cut, int tiles) {
  Program p = plain;
  ConvArgs& a = p.conv;
  if (plain.slices > 1) p.workspace_bytes = plain.sums_at;  // cut anew
  a.slice = 0;
  const int row_bytes = info(*plain.boxes).tile.row_bytes, columns = columns_for(plain);
  p.boxes = kernel_named(
      concat(family(p, row_bytes == 64 ? "_half_halo_" : "_halo_"), kHaloTeams * tiles * kTileRows, "x", columns));
  cut.set_patches(a);
  a.channel_pitch = Divider(row_bytes / 2);
  const std::int64_t rows = ceil_div(cut.taps() * (row_bytes / 2), kTileRows);
  const std::int64_t workers = ceil_div(rows, kHaloTeams * tiles);
  a.m_tiles = Divider(rows);
  a.n_tiles = Divider(std::max<std::int64_t>(1, ceil_div(a.results, columns)));
  a.halo.box_width = static_cast<int>(cut.width);
  a.halo.box_height = static_cast<int>(cut.height);
  const std::int64_t block_taps = std::int64_t{kHaloTeams} * tiles * 128 / row_bytes;
  a.halo.box_depth = static_cast<int>(depth_of_box(cut, block_taps));
  a.halo.workers = Divider(workers);
  set_slices(p, workers * a.n_tiles.divisor * p.product().groups);
  if (!set_stages(a, info(*p.boxes).tile, kSharedBytes)) return std::nullopt;
  // A box is worth loading where it is at most half of what a box a tap would be.
  if (2 * cut.width * cut.height * a.halo.box_depth > std::min(cut.taps(), block_taps) * kHaloRows) return std::nullopt;
  p.make_launches = &halo_filter_launches;
  p.why = concat("tensor cores on tiles of ", info(*p.boxes).tile.rows, " x ", columns, ", ",
                 p.fold ? text_of(*p.fold) + ", " : "", p.field || p.dense ? "copied channels-last, " : "",
                 "patches loaded once with their halo",
                 p.slices > 1 ? concat(", the sum in ", p.slices, " slices added in order") : "");
  return p;
}

// A tile a block, on the same patches and slices, so to the same bits: for tensors at any address.
Program tile_by_tile(const Program& p) {
  Program q = p;
  ConvArgs& a = q.conv;
  const int columns = columns_for(p);
  q.boxes = kernel_named(tiled(family(p, "_boxes"), columns));
  if (p.any) q.any = kernel_named(tiled(family(p, "_gather"), columns));
  const TileInfo& tile = info(*q.boxes).tile;
  a.channel_pitch = Divider(tile.terms);
  a.m_tiles = Divider(ceil_div(taps_of(p.product()) * tile.terms, tile.rows));
  q.blocks = static_cast<unsigned>(std::int64_t{a.m_tiles.divisor} * a.n_tiles.divisor * p.product().groups * p.slices);
  q.make_launches = &conv_launches;
  return q;
}

}  // namespace

// The fewest tiles in turn over all blocks of a patch.
std::optional<Program> halo_filter_gradient(const Program& plain) {
  const HaloCut cut(plain);
  if (plain.geometry.direction != Direction::filter_grad || cut.taps() < 2 || !cut.fits(plain)) return std::nullopt;
  std::optional<Program> best;
  int least = 0;
  for (int tiles : {5, 4, 3}) {
    std::optional<Program> p = cut_for(plain, cut, tiles);
    if (!p) continue;
    const int turns = static_cast<int>(p->conv.halo.workers.divisor) * tiles;
    if (best && turns >= least) continue;
    least = turns;
    best = std::move(p);
  }
  return best;
}

std::vector<Launch> halo_filter_launches(const Program& p, const Buffers& buffers) {
  ConvArgs args = p.conv;
  std::vector<Launch> all = operands_in_place(p, buffers, args);
  const TileInfo& tile = info(*p.boxes).tile;
  if (!aligned(args.field) || !aligned(args.dense) || tile.shared_bytes(args) > p.hardware.shared_bytes)
    return tile_by_tile(p).launches(buffers);
  std::vector<Box> boxes = boxes_of(p, args, tile);
  const int extents[] = {tile.row_bytes / 2, args.halo.box_width, args.halo.box_height, args.halo.box_depth};
  std::copy(std::begin(extents), std::end(extents), boxes[0].box);
  boxes[1].box[0] = tile.columns;
  boxes[1].swizzle_bytes = 2 * tile.columns;
  all.push_back({*p.boxes, p.blocks, tile.shared_bytes(args), args, boxes});
  if (args.slice != 0) all.push_back(reduction(p, "slices", buffers));
  return all;
}

}  // namespace convgrad::cuda

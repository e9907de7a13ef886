#include "engines/cuda/kernel_choice.h"

#include <algorithm>

#include "base/text.h"
#include "engines/cuda/matrices.h"

namespace convgrad::cuda {

std::optional<Kernel> kernel_named(std::string_view name) {
  const std::span<const KernelInfo> all = all_kernels();
  const auto found = std::find_if(all.begin(), all.end(), [&](const KernelInfo& row) { return row.name == name; });
  return found == all.end() ? std::nullopt : std::optional(static_cast<Kernel>(found - all.begin()));
}

std::string tiled(std::string_view family, int columns) { return concat(family, "_128x", columns); }

namespace {

// With the fewest stages, and a tile of sums beside them.
bool fits(const TileInfo& tile, const Hardware& hardware) {
  ConvArgs args{};
  args.stages = kLeastStages;
  args.tile_at = kLeastStages * static_cast<int>(tile.stage_bytes);
  return tile.shared_bytes(args) <= hardware.shared_bytes;
}

}  // namespace

std::optional<Kernel> kernel_of(std::string_view family, std::int64_t columns, const Hardware& hardware) {
  int best = 0;
  columns = std::max<std::int64_t>(1, columns);
  for (const KernelInfo& row : all_kernels()) {
    if (row.name != tiled(family, row.tile.columns) || !fits(row.tile, hardware)) continue;
    if (row.group.ends_with("_hopper") && !hardware.hopper) continue;
    const int has = row.tile.columns;
    if (best < columns ? has > best : has >= columns && has < best) best = has;
  }
  return kernel_named(tiled(family, best));
}

Families families_of(const Geometry& g, const Hardware& hardware, int row_bytes) {
  const std::string plain = concat(name(g.direction), "_", info(g.dtype).id);
  const std::string stem = row_bytes == 64 ? plain + "_half" : plain;
  const bool warpgroups = hardware.hopper && sixteen_bits(g.dtype);
  return {warpgroups ? stem + "_gather" : plain, hardware.hopper ? stem + "_boxes" : ""};
}

}  // namespace convgrad::cuda

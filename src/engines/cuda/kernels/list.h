// The types behind the names of kernels.inc.
#pragma once

#include "engines/cuda/kernels/boxes.h"
#include "engines/cuda/kernels/convolve.h"
#include "engines/cuda/kernels/direct.h"
#include "engines/cuda/kernels/f64_tile.h"
#include "engines/cuda/kernels/fma_tile.h"
#include "engines/cuda/kernels/fold.h"
#include "engines/cuda/kernels/gather.h"
#include "engines/cuda/kernels/halo.h"
#include "engines/cuda/kernels/halo_filter.h"
#include "engines/cuda/kernels/mma_tile.h"
#include "engines/cuda/kernels/repack.h"
#include "engines/cuda/kernels/strips.h"
#include "engines/cuda/kernels/sums.h"
#include "engines/cuda/kernels/warpgroup_tile.h"

namespace convgrad::cuda {

// All tiles but those with a halo have 128 rows. A warp's part of an f64 tile is 32 x 32 at most: twice that in
// registers, for chunks and blocks.
template <Way way, int Columns>
using F64Shape = Shape<way, F64Element, 128, Columns, Columns == 64 ? 256 : 128>;
template <Way way, template <class> class Loader, int Columns>
using F64 = Convolve<F64Shape<way, Columns>, Loader, F64Tile<F64Shape<way, Columns>, Columns == 8 ? 8 : 32>>;

template <Way way, class Element, int Columns>
using FmaShape = Shape<way, Element, 128, Columns, 256>;
template <Way way, class Element, int Columns>
using Fma = Convolve<FmaShape<way, Element, Columns>, Gather, FmaTile<FmaShape<way, Element, Columns>, Columns / 8, 4>>;

// A warp's part is 32 x 32, or 32 x 16.
template <Way way, class Element, int Columns>
using MmaShape = Shape<way, Element, 128, Columns, Columns == 64 ? 256 : 128>;
template <Way way, class Element, int Columns>
using Mma = Convolve<MmaShape<way, Element, Columns>, Gather,
                     MmaTile<MmaShape<way, Element, Columns>, 32, Columns == 16 ? 16 : 32>>;

// Rows of 64 bytes where 128 would be half empty: 32 channels.
template <Way way, class Element, int Columns, int RowBytes>
using WarpgroupShape = Shape<way, Element, 128, Columns, 256, RowBytes>;
template <Way way, template <class> class Loader, class Element, int Columns, int RowBytes = 128>
using Warpgroup = Convolve<WarpgroupShape<way, Element, Columns, RowBytes>, Loader,
                           WarpgroupTile<WarpgroupShape<way, Element, Columns, RowBytes>>>;

// Two warpgroups with a patch each.
template <Way way, class Element, int Columns, int RowBytes = 128>
using HaloPatches = HaloConvolve<Shape<way, Element, kHaloRows, Columns, kHaloTeams * 128, RowBytes>>;
template <class Element, int Columns, int RowBytes, int Tiles>
using HaloFilters = HaloFilter<HaloFilterShape<Element, Columns, RowBytes, Tiles>>;

}  // namespace convgrad::cuda

// Sums of a warp as fragments of 16 x 8, four of them a lane: (g + 8 (e / 2), 2 t + e % 2), g = lane / 4, t = lane % 4.
#pragma once

#include "engines/cuda/kernels/unrolled.h"

namespace convgrad::cuda {

template <class Sum, int Down, int Across>
struct Fragments {
  Sum chunk[Down][Across][4] = {}, block[Down][Across][4] = {};

  // visit(row, column, sum of the terms since the last fold, sum of folds), where row_of and column_of number the rows
  // and columns of fragment i down and j across.
  template <class RowOf, class ColumnOf, class Visit>
  CONVGRAD_DEVICE void each(int lane, const RowOf& row_of, const ColumnOf& column_of, const Visit& visit) {
    unrolled<Down>([&](int i) {
      unrolled<Across>([&](int j) {
        unrolled<4>([&](int e) {
          visit(row_of(i, lane / 4 + 8 * (e / 2)), column_of(j, 2 * (lane % 4) + e % 2), chunk[i][j][e],
                block[i][j][e]);
        });
      });
    });
  }
};

}  // namespace convgrad::cuda

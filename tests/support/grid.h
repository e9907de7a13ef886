// The grid of cells that every engine must fill; the support table in docs is printed from it.
#pragma once

#include <algorithm>

#include "convgrad/convgrad.h"

namespace convgrad::test {

inline constexpr Direction kDirections[] = {Direction::forward, Direction::input_grad, Direction::filter_grad};
inline constexpr Layout kLayouts[] = {Layout::channels_last, Layout::channels_first};
inline constexpr PaddingKind kPaddings[] = {PaddingKind::same, PaddingKind::valid, PaddingKind::explicit_pairs};

inline Op op_of(Direction direction, int rank) {
  const auto is = [&](const OpInfo& row) { return row.direction == direction && row.rank == rank; };
  return std::find_if(all_ops().begin(), all_ops().end(), is)->op;
}

// One problem of a cell: 4 input and 8 output channels, a filter of 3, an input just large enough.
inline ConvProblem cell(Direction direction, int rank, DType dtype, Layout layout, std::int64_t stride,
                        std::int64_t dilation, PaddingKind padding, std::int64_t groups) {
  ConvProblem p;
  p.direction = direction;
  p.rank = rank;
  p.dtype = dtype;
  p.layout = layout;
  p.n = 2;
  p.c_in = 4;
  p.filter_c = 4 / groups;
  p.c_out = 8;
  p.padding = padding;
  p.in = rank == 3 ? Extents{7, 8, 7} : Extents{8, 9, 1};
  p.filter = rank == 3 ? Extents{2, 3, 2} : Extents{3, 2, 1};
  p.stride = {stride, stride, stride};
  p.dilation = {dilation, dilation, dilation};
  p.pads = {PadPair{1, 2}, PadPair{2, 0}, PadPair{0, 3}};
  return p;
}

template <class Visit>
void for_each_cell(const Visit& visit) {
  for (Direction direction : kDirections)
    for (int rank = 1; rank <= 3; ++rank)
      for (const DTypeInfo& dtype : all_dtypes()) {
        if (!takes(op_of(direction, rank), dtype.dtype)) continue;
        for (Layout layout : kLayouts)
          for (std::int64_t stride = 1; stride <= 3; ++stride)
            for (std::int64_t dilation = 1; dilation <= 3; ++dilation)
              for (PaddingKind padding : kPaddings)
                for (std::int64_t groups : {1, 2, 4})
                  visit(cell(direction, rank, dtype.dtype, layout, stride, dilation, padding, groups));
      }
}

}  // namespace convgrad::test

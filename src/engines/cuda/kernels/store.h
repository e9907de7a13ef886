// From the tile of sums in shared memory to the result.
#pragma once

#include "engines/cuda/kernels/exact_sum.h"
#include "engines/cuda/kernels/folded_taps.h"
#include "engines/cuda/kernels/shape.h"

namespace convgrad::cuda {

// One sum by its definition, term by term, without padding. The tile multiplies zeros where a tap falls on padding, and
// 0 * infinity is not 0: a sum that is not finite is taken again, here. `tile` is the number that the job has.
template <class S>
CONVGRAD_SELDOM typename S::Sum by_definition(const ConvArgs& args, int tile, int m, int n) {
  using Element = typename S::Element;
  const typename S::Work job(args, tile);
  const auto* field = static_cast<const typename Element::Stored*>(args.field);
  const auto* dense = static_cast<const typename Element::Stored*>(args.dense);
  const int extent[3] = {job.axis(0).extent, job.axis(1).extent, job.axis(2).extent}, one[3] = {1, 1, 1};
  const Spot row = job.field_m(m), column = job.dense_n(n);
  typename SumOf<typename Element::Exact>::Type sum;
  const int steps = job.steps();
  for (int step = 0; step < steps; ++step) {
    for (int kk = 0; kk < S::Terms; ++kk) {
      const Spot a = row + job.field_k(step, kk), b = column + job.dense_k(step, kk);
      if (inside(a, extent) && inside(b, one) && !is_folded_padding(args.taps, a, job.field_channel(m, step, kk)))
        sum.add_product(number_at<Element>(field, a.offset, {args.planes, args.field_plane}),
                        number_at<Element>(dense, b.offset, {args.planes, args.dense_plane}));
    }
  }
  return static_cast<typename S::Sum>(sum.value());
}

// To the result, or to the sums of the job's slice.
template <class S>
CONVGRAD_DEVICE void store_sum(const ConvArgs& args, const typename S::Work& job, std::int64_t offset,
                               typename S::Sum sum) {
  using Element = typename ResultOf<typename S::Element>::Type;
  if (args.slice != 0)
    static_cast<typename S::Sum*>(args.result)[job.slice_offset() + offset] = sum;
  else
    static_cast<typename Element::Stored*>(args.result)[offset] = Element::narrowed(sum);
}

template <class S>
class Store {
 public:
  CONVGRAD_DEVICE Store(const ConvArgs& args, const typename S::Work& job, const SharedPlaces<S>& at)
      : args_(args), job_(job), at_(at) {}

  // By all consumers, once the tile is whole.
  CONVGRAD_DEVICE void run(int thread) const {
    for (int m = thread; m < S::Rows; m += S::Consumers) row_offset(m) = job_.result_m(m);
    sync_some(2, S::Consumers);
    const std::int64_t stride = job_.result_n(0) < 0 ? 0 : column_stride();
    const bool rows_fastest = stride != 1;  // threads store along what is contiguous
    for (int i = thread; i < S::Rows * S::Columns; i += S::Consumers) {
      const int m = rows_fastest ? i % S::Rows : i / S::Columns;
      const int n = rows_fastest ? i / S::Rows : i % S::Columns;
      const std::int64_t row = row_offset(m), column = job_.result_n(n);
      if (row >= 0 && column >= 0) store_sum<S>(args_, job_, row + column, sum_at(m, n));
    }
  }

 private:
  using Sum = typename S::Sum;

  CONVGRAD_DEVICE std::int64_t& row_offset(int m) const {
    return shared<std::int64_t>(at_.field_spots + static_cast<unsigned>(m) * 8);
  }
  CONVGRAD_DEVICE std::int64_t column_stride() const {
    return S::way == Way::filter_grad ? args_.filter_out : args_.image_strides.c;
  }
  CONVGRAD_DEVICE Sum sum_at(int m, int n) const {
    const Sum sum = shared<const Sum>(at_.tile + static_cast<unsigned>(m * S::tile_pitch + n) * sizeof(Sum));
    return is_finite(sum) ? sum : by_definition<S>(args_, static_cast<int>(block_index()), m, n);
  }

  const ConvArgs& args_;
  const typename S::Work& job_;
  const SharedPlaces<S>& at_;
};

}  // namespace convgrad::cuda

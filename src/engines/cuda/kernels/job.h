// One block's part of a convolution: which results, which terms, and where each of them lies in memory.
#pragma once

#include "engines/cuda/kernels/args.h"

namespace convgrad::cuda {

enum class Way { forward, input_grad, filter_grad };

// Half of an address: a place in a tensor, and the image coordinates that come with it. The place of (m, k) is the sum
// of m's and k's; it exists where the sum of the coordinates lies inside the image.
struct Spot {
  std::int64_t offset;
  int d, h, w;
};

inline constexpr int kNowhere = -(1 << 30);  // no sum with it is inside an image

inline CONVGRAD_BOTH Spot operator+(const Spot& a, const Spot& b) {
  return {a.offset + b.offset, a.d + b.d, a.h + b.h, a.w + b.w};
}
inline CONVGRAD_BOTH bool inside(const Spot& spot, const int (&extent)[3]) {
  return static_cast<unsigned>(spot.d) < static_cast<unsigned>(extent[0]) &&
         static_cast<unsigned>(spot.h) < static_cast<unsigned>(extent[1]) &&
         static_cast<unsigned>(spot.w) < static_cast<unsigned>(extent[2]);
}

// Terms is the number of terms of one step, k = step * Terms + kk.
template <Way way, int Rows, int Columns, int Terms>
class Job {
 public:
  CONVGRAD_BOTH Job(const ConvArgs& args, int block) : args_(args) {
    n0_ = args.n_tiles.take(block) * Columns;
    const int m_tile = args.m_tiles.take(block);
    const int phase = args.phases.take(block);
    group_ = args.groups.take(block);
    slice_ = block;
    const int row = args.phase_columns.quotient(phase), plane = args.phase_rows.quotient(row);
    axes_[0] = axis_of_phase(args.axes[0], plane);
    axes_[1] = axis_of_phase(args.axes[1], args.phase_rows.remainder(row));
    axes_[2] = axis_of_phase(args.axes[2], args.phase_columns.remainder(phase));
    taps_ = axes_[0].taps * axes_[1].taps * axes_[2].taps;
    if (kGathers)
      corner_ = args.patches.corner(m_tile);
    else
      m0_ = m_tile * Rows;
  }

  CONVGRAD_BOTH int steps() const {
    if (kGathers) return (taps_ * pitch() + Terms - 1) / Terms;
    const int left = static_cast<int>(args_.patches.count) - slice_ * args_.steps;
    return left < args_.steps ? left : args_.steps;
  }

  // Places in the field, the dense operand and the result. m and n count from the tile's first.
  CONVGRAD_BOTH Spot field_m(int m) const {
    return kGathers ? field_pixel(args_.patches.at(corner_, m)) : field_column(m0_ + m);
  }
  CONVGRAD_BOTH Spot field_k(int step, int kk) const {
    return kGathers ? field_column(step * Terms + kk) : field_pixel(term_pixel(step, kk));
  }
  CONVGRAD_BOTH int field_channel(int m, int step, int kk) const {
    return column_at(kGathers ? step * Terms + kk : m0_ + m).channel;
  }
  CONVGRAD_BOTH Spot dense_n(int n) const {
    if (n0_ + n >= args_.results) return nowhere();
    const std::int64_t stride = way == Way::forward      ? args_.filter_out
                                : way == Way::input_grad ? args_.filter_in
                                                         : args_.image_strides.c;
    return {(n0_ + n) * stride, 0, 0, 0};
  }
  CONVGRAD_BOTH Spot dense_k(int step, int kk) const {
    if (!kGathers) return image_pixel(term_pixel(step, kk), dense_group());
    const Column column = column_at(step * Terms + kk);
    if (!column.there) return nowhere();
    const std::int64_t stride = way == Way::forward ? args_.filter_in : args_.filter_out;
    return {dense_group() + column.filter_tap * args_.filter_tap + column.channel * stride, 0, 0, 0};
  }
  // -1: there is no such row.
  CONVGRAD_BOTH std::int64_t result_m(int m) const {
    if (kGathers) return image_pixel(args_.patches.at(corner_, m), result_group()).offset_or(-1);
    const Column column = column_at(m0_ + m);
    return column.there ? result_group() + column.filter_tap * args_.filter_tap + column.channel * args_.filter_in : -1;
  }
  CONVGRAD_BOTH std::int64_t result_n(int n) const {
    return n0_ + n < args_.results ? (n0_ + n) * (kGathers ? args_.image_strides.c : args_.filter_out) : -1;
  }
  // Elements before this slice's sums.
  CONVGRAD_BOTH std::int64_t slice_offset() const { return slice_ * args_.slice; }

  // What a box of the field or of the filter starts at.
  CONVGRAD_BOTH int group() const { return group_; }
  CONVGRAD_BOTH int n0() const { return n0_; }
  CONVGRAD_BOTH int m0() const { return m0_; }
  CONVGRAD_BOTH const Pixel& corner() const { return corner_; }
  CONVGRAD_BOTH Pixel term_corner(int step) const { return args_.patches.corner(slice_ * args_.steps + step); }
  CONVGRAD_BOTH const Axis& axis(int dimension) const { return axes_[dimension]; }

  // A column of the field: a tap, in the filter's numbering, and a channel.
  struct Column {
    bool there;
    int d, h, w;  // taps of this phase
    int channel;
    int filter_tap;
  };
  CONVGRAD_BOTH Column column_at(int flat) const {
    const int tap = args_.channel_pitch.quotient(flat), channel = flat - tap * pitch();
    if (tap >= taps_ || channel >= args_.channels) return {};
    const int row = tap / axes_[2].taps, plane = row / axes_[1].taps;
    Column column{true, plane, row - plane * axes_[1].taps, tap - row * axes_[2].taps, channel, 0};
    column.filter_tap =
        (filter_at(0, column.d) * args_.axes[1].filter + filter_at(1, column.h)) * args_.axes[2].filter +
        filter_at(2, column.w);
    return column;
  }

 private:
  static constexpr bool kGathers = way != Way::filter_grad;

  struct Place : Spot {
    CONVGRAD_BOTH std::int64_t offset_or(std::int64_t none) const { return d == kNowhere ? none : offset; }
  };

  static CONVGRAD_BOTH Place nowhere() { return {{0, kNowhere, 0, 0}}; }

  CONVGRAD_BOTH int pitch() const { return static_cast<int>(args_.channel_pitch.divisor); }
  CONVGRAD_BOTH int filter_at(int dimension, int tap) const {
    return axes_[dimension].tap_first + tap * axes_[dimension].tap_step;
  }
  CONVGRAD_BOTH Pixel term_pixel(int step, int kk) const { return args_.patches.at(term_corner(step), kk); }
  CONVGRAD_BOTH bool exists(const Pixel& p) const {
    return p.n < args_.images && p.d < axes_[0].pixels && p.h < axes_[1].pixels && p.w < axes_[2].pixels;
  }

  CONVGRAD_BOTH Spot field_pixel(const Pixel& p) const {
    if (!exists(p)) return nowhere();
    const int d = p.d * axes_[0].step + axes_[0].origin, h = p.h * axes_[1].step + axes_[1].origin,
              w = p.w * axes_[2].step + axes_[2].origin;
    const ImageStrides& s = args_.field_strides;
    return {p.n * s.n + d * s.d + h * s.h + w * s.w + static_cast<std::int64_t>(group_) * args_.field_group * s.c, d, h,
            w};
  }
  CONVGRAD_BOTH Spot field_column(int flat) const {
    const Column column = column_at(flat);
    if (!column.there) return nowhere();
    const int d = column.d * axes_[0].reach, h = column.h * axes_[1].reach, w = column.w * axes_[2].reach;
    const ImageStrides& s = args_.field_strides;
    return {d * s.d + h * s.h + w * s.w + column.channel * s.c, d, h, w};
  }
  // Of the image that is not the field, where pixels are themselves.
  CONVGRAD_BOTH Place image_pixel(const Pixel& p, std::int64_t start) const {
    if (!exists(p)) return nowhere();
    const ImageStrides& s = args_.image_strides;
    return {
        {start + p.n * s.n + coordinate(0, p.d) * s.d + coordinate(1, p.h) * s.h + coordinate(2, p.w) * s.w, 0, 0, 0}};
  }
  CONVGRAD_BOTH std::int64_t coordinate(int dimension, int pixel) const {
    return axes_[dimension].first + static_cast<std::int64_t>(pixel) * axes_[dimension].spacing;
  }

  CONVGRAD_BOTH std::int64_t dense_group() const {
    return static_cast<std::int64_t>(group_) * args_.dense_group *
           (kGathers ? args_.filter_out : args_.image_strides.c);
  }
  CONVGRAD_BOTH std::int64_t result_group() const {
    return static_cast<std::int64_t>(group_) * args_.result_group *
           (kGathers ? args_.image_strides.c : args_.filter_out);
  }

  const ConvArgs& args_;
  Axis axes_[3];
  Pixel corner_{};
  int m0_ = 0, n0_, group_, slice_, taps_;
};

}  // namespace convgrad::cuda

// The loader for channels-last tensors of aligned channels: the copy engine brings a box of pixels x one row of
// channels at a time, zeros for what lies outside the image, already swizzled. One lane asks for one box.
#pragma once

#include "engines/cuda/kernels/shape.h"

namespace convgrad::cuda {

// Where a box of the filter, (out channel, in channel, tap), starts. Forward: rows are input channels, columns the
// output channels of the tile. Input gradient: the other way round.
struct BoxStart {
  int at[5];
};
template <class S>
CONVGRAD_DEVICE BoxStart filter_box_start(const ConvArgs& args, const typename S::Work& job,
                                          const typename S::Work::Column& column, int index) {
  const int first_out = job.group() * args.dense_group;
  if (S::way == Way::forward)
    return {{first_out + job.n0() + index * S::Terms, column.channel, column.filter_tap, 0, 0}};
  return {{first_out + column.channel, job.n0(), column.filter_tap, 0, 0}};
}

// The field's maps see it as (channel, w, h, d, n), boxes of a patch; the dense operand's maps see dy likewise, or the
// filter as (out channel, in channel, tap). Operands in planes are loaded once for each product of planes. The flat
// index (tap, channel) has whole rows of channels: its pitch is a multiple of Terms, so a step (a gather) or a block of
// rows (the filter gradient) has one tap.
template <class S>
class Boxes {
 public:
  static constexpr int arrivals = 1;
  static constexpr int registers = 40;

  static CONVGRAD_DEVICE void run(const ConvArgs& args, const typename S::Work& job, const SharedPlaces<S>& at,
                                  int thread) {
    if (thread >= 32) return;
    const Box mine = box_of(args, job, thread);
    const int steps = job.steps(), products = products_of<typename S::Element>(args.planes);
    const unsigned bytes = bytes_of_step(args, job);
    Turn turn;
    for (int step = 0; step < steps; ++step)
      for (int product = 0; product < products; ++product, turn.next(args.stages)) {
        const unsigned full = at.full + static_cast<unsigned>(turn.slot) * 8;
        barrier_wait(at.empty + static_cast<unsigned>(turn.slot) * 8, turn.parity ^ 1);
        if (thread == 0) barrier_expect(full, bytes);
        sync_warp();
        if (mine.asked) ask(args, job, mine, {step, product, at.stage(turn.slot), full});
      }
  }

 private:
  static constexpr int Terms = S::Terms;
  static constexpr int field_boxes = S::field_major == Major::along_sum ? 1 : S::field_rows / Terms;
  static constexpr int dense_boxes = S::dense_major == Major::along_sum ? 1 : S::dense_rows / Terms;
  static_assert(field_boxes + dense_boxes <= 32, "one box a lane");

  // What a lane loads in every step.
  struct Box {
    bool asked, of_field;
    unsigned to;                      // in the stage
    int index;                        // which box of its operand
    typename S::Work::Column column;  // filter_grad's field: the tap and first channel
  };

  // One load: which terms, which planes, where to.
  struct Load {
    int step, product;
    unsigned stage, barrier;
  };

  static CONVGRAD_DEVICE bool wanted_field(const typename S::Work& job, int index) {
    return S::field_major == Major::along_sum || job.column_at(job.m0() + index * Terms).there;
  }
  static CONVGRAD_DEVICE bool wanted_dense(const ConvArgs& args, const typename S::Work& job, int index) {
    return S::dense_major == Major::along_sum || job.n0() + index * Terms < args.results;
  }

  static CONVGRAD_DEVICE Box box_of(const ConvArgs& args, const typename S::Work& job, int lane) {
    Box box{};
    box.of_field = lane < field_boxes;
    box.index = box.of_field ? lane : lane - field_boxes;
    constexpr unsigned block = Terms * S::RowBytes;
    box.to = (box.of_field ? 0 : S::dense_at) + static_cast<unsigned>(box.index) * block;
    box.asked =
        box.of_field ? wanted_field(job, box.index) : box.index < dense_boxes && wanted_dense(args, job, box.index);
    if (box.of_field && S::field_major == Major::across) box.column = job.column_at(job.m0() + box.index * Terms);
    return box;
  }

  static CONVGRAD_DEVICE unsigned bytes_of_step(const ConvArgs& args, const typename S::Work& job) {
    unsigned bytes = 0;
    for (int i = 0; i < field_boxes; ++i)
      if (wanted_field(job, i)) bytes += S::field_rows / field_boxes * S::RowBytes;
    for (int i = 0; i < dense_boxes; ++i)
      if (wanted_dense(args, job, i)) bytes += S::dense_rows / dense_boxes * S::RowBytes;
    return bytes;
  }

  static CONVGRAD_DEVICE void ask(const ConvArgs& args, const typename S::Work& job, const Box& box, const Load& load) {
    if (box.of_field)
      ask_field(args, job, box, load);
    else if (S::way == Way::filter_grad)
      ask_image(args, job, box, load);
    else
      ask_filter(args, job, box, load);
  }

  static CONVGRAD_DEVICE void ask_field(const ConvArgs& args, const typename S::Work& job, const Box& box,
                                        const Load& load) {
    const auto column = S::way == Way::filter_grad ? box.column : job.column_at(load.step * Terms);
    const Pixel corner = S::way == Way::filter_grad ? job.term_corner(load.step) : job.corner();
    const auto along = [&](int dimension, int pixel, int tap) {
      const Axis& axis = job.axis(dimension);
      return pixel * axis.step + axis.origin + tap * axis.reach;
    };
    load_box(load.stage + box.to, args.maps[field_plane(load.product)], load.barrier,
             {job.group() * args.field_group + column.channel, along(2, corner.w, column.w),
              along(1, corner.h, column.h), along(0, corner.d, column.d), corner.n});
  }
  static CONVGRAD_DEVICE const TensorMap& dense_map(const ConvArgs& args, const Load& load) {
    const int behind_the_fields = kHasPlanes<typename S::Element> ? args.planes : 1;
    return args.maps[behind_the_fields + dense_plane(load.product)];
  }
  static CONVGRAD_DEVICE void ask_image(const ConvArgs& args, const typename S::Work& job, const Box& box,
                                        const Load& load) {
    const Pixel corner = job.term_corner(load.step);
    load_box(load.stage + box.to, dense_map(args, load), load.barrier,
             {job.group() * args.dense_group + job.n0() + box.index * Terms, corner.w, corner.h, corner.d, corner.n});
  }
  static CONVGRAD_DEVICE void ask_filter(const ConvArgs& args, const typename S::Work& job, const Box& box,
                                         const Load& load) {
    load_box(load.stage + box.to, dense_map(args, load), load.barrier,
             filter_box_start<S>(args, job, job.column_at(load.step * Terms), box.index).at);
  }
};

}  // namespace convgrad::cuda

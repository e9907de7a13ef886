#include "engines/cpu/filter_grad.h"

#include <algorithm>

#include "engines/cpu/filter_sums.h"
#include "engines/cpu/runs.h"
#include "engines/cpu/sweep.h"
#include "engines/spread.h"

namespace convgrad::cpu {
namespace {

// Memory of one worker.
template <class T>
struct Workbench {
  T* c;
  FilterSums<T> sums;  // of the only slice
  T *x, *spread_x, *dy;
  std::int32_t* index;
  Run* runs;

  Workbench(Carver& carve, const FilterProgram& p) {
    const std::int64_t block = block_elements(p), box = largest_input_box(p), region = largest_region(p);
    c = carve.take<T>(block);
    sums.hi = carve.take<T>(keeps_sums(p) ? 0 : block);
    sums.lo = carve.take<T>(keeps_sums(p) ? 0 : block);
    const std::int64_t channels = most_input_channels(p);
    const std::int64_t staged_x = planar_x(p) ? channels * plane_pitch(box) : box * x_pitch(p, channels);
    const std::int64_t staged_dy = planar_dy(p) ? p.co_each * plane_pitch(region) : region * staged_pitch(p.co_each);
    x = carve.take<T>(stages_x(p) ? staged_x : 0);
    spread_x = carve.take<T>(spreads_channels(p) ? p.layer.c_in * box * round_up(p.co_each, kAlign) : 0);
    dy = carve.take<T>(stages_dy(p) ? staged_dy : 0);
    index = carve.take<std::int32_t>(spreads_channels(p) ? p.co_each : 0);
    runs = carve.take<Run>(RunList::most(region, region));
  }
};

template <class T>
struct Job {
  const FilterProgram& p;
  const Kernels& kernels;
  const KernelSet<T>& set;
  const EngineArgs& args;
  const Course& course;
  FilterTarget target;
  Carver carve;
  SliceSums<T> slices;

  Job(const FilterProgram& program, const Kernels& all, const EngineArgs& engine_args, const Course& units_course,
      DType type)
      : p(program),
        kernels(all),
        set(all.of<T>()),
        args(engine_args),
        course(units_course),
        target{all, type, engine_args.result},
        carve(engine_args.workspace),
        slices(carve, program) {}
};

// One block of dw over one slice of the positions, or over one piece of it.
template <class T>
class Unit {
 public:
  Unit(const Job<T>& job, const FilterBlock& block, const Workbench<T>& bench)
      : job_(job), p_(job.p), layer_(job.p.layer), block_(block), bench_(bench) {}

  // hi + lo = the sum over the regions of a slice; tell(regions done) after each.
  template <class Tell>
  void add_slice(std::int64_t slice, const FilterSums<T>& sums, const Tell& tell) {
    const std::int64_t first = p_.slice_begin(slice), end = p_.slice_begin(slice + 1);
    clear(sums.hi, block_elements(p_));
    clear(sums.lo, block_elements(p_));
    for (std::int64_t piece = first; piece < end;) {
      const std::int64_t piece_end = p_.piece_end(piece, end);
      add_piece(piece, piece_end, bench_.c, [&](std::int64_t region) { tell(region - first); });
      job_.set.sums.fold({sums.hi, sums.lo, bench_.c, nullptr, nullptr, block_elements(p_)});
      piece = piece_end;
    }
  }

  // sums = the sum over the regions, one block of terms; tell(regions so far) after each.
  template <class Tell>
  void add_piece(std::int64_t first_region, std::int64_t end_region, T* sums, const Tell& tell) {
    sums_ = sums;
    clear(sums, block_elements(p_));
    for (std::int64_t r = first_region; r < end_region; ++r) {
      const Box region = p_.region_box(r);
      bring(region);
      for_each_part(region, p_.strip, [this](const Box& strip) { add_box(strip, false); });
      if (p_.merged || p_.form == FilterForm::lanewise) add_box(region, true);
      tell(r + 1);
    }
  }

 private:
  // Makes x and dy of the region readable for kernels.
  void bring(const Box& region) {
    bring_dy(region);
    if (p_.form == FilterForm::ones) {
      x_ = {&one_, 0, {}};
      return;
    }
    const Box box = input_box(layer_, region);
    const Channels channels = input_channels(p_, block_);
    if (stages_x(p_)) {
      x_ = planar_x(p_) ? planar_field(bench_.x, box, plane_pitch(box.positions()))
                        : staged_field(bench_.x, box, x_pitch(p_, channels.count));
      stage_in(job_.kernels.copy, job_.args.first, {p_.x, box, channels.first, channels.count}, x_);
    } else {
      x_ = direct_field<T>(job_.args.first, p_.x, channels.first);
    }
    if (!spreads_channels(p_)) return;
    x_ = spread_channels(job_.set.expand, x_, box,
                         {layer_.c_in, layer_.c_out, block_.co, block_.co_count, channels.first}, bench_.spread_x,
                         bench_.index);
    x_.channel = box.positions() * x_.step[3];
  }

  void bring_dy(const Box& region) {
    const void* dy = p_.form == FilterForm::ones ? job_.args.first : job_.args.second;
    const std::int64_t channel = p_.form == FilterForm::lanewise ? block_.co : block_.group * layer_.c_out + block_.co;
    if (stages_dy(p_)) {
      dy_ = planar_dy(p_) ? planar_field(bench_.dy, region, plane_pitch(region.positions()))
                          : staged_field(bench_.dy, region, staged_pitch(block_.co_count));
      stage_in(job_.kernels.copy, dy, {p_.dy, region, channel, block_.co_count}, dy_);
    } else {
      dy_ = direct_field<T>(dy, p_.dy, channel);
    }
  }

  // Short stretches (the edges of a row) wait for the whole region: in a strip they have too few terms.
  void add_box(const Box& box, bool edges) {
    for (std::int64_t index = 0; index < block_.tap_rows; ++index) {
      const TapRow row{index, taps_of(layer_, block_.tap_row + index)};
      const Box valid = valid_outputs(box, row);
      if (valid.positions() == 0) continue;
      if (p_.merged || p_.form == FilterForm::lanewise) {
        for (const Stretch& whole : p_.row_stretches) {
          if ((whole.count < kShortStretch) != edges) continue;
          const Stretch part = clipped(whole, box.begin[3], box.end[3]);
          if (part.taps > 0 && part.count > 0) add_stretch(valid, row, part);
        }
      } else {
        for (std::int64_t tap = 0; tap < layer_.axes[3].taps; ++tap) add_tap(valid, row, tap);
      }
    }
  }

  // Taps of the axes before the last, and their number in the block.
  struct TapRow {
    std::int64_t index;
    Position taps;
  };

  // Outputs of a box whose inputs exist for the taps of the axes before the last.
  Box valid_outputs(const Box& box, const TapRow& row) const {
    Box valid = box;
    for (std::size_t a = 0; a < 3; ++a) clip(valid, a, row.taps[a]);
    return valid;
  }

  void clip(Box& box, std::size_t a, std::int64_t tap) const {
    const Axis& axis = layer_.axes[a];
    const std::int64_t shift = axis.pad - tap * axis.dilation;
    box.begin[a] = std::max(box.begin[a], ceil_div(shift, axis.stride));
    box.end[a] = std::max(box.begin[a], std::min(box.end[a], ceil_div(axis.in + shift, axis.stride)));
  }

  // x by the output that reads it.
  Field<T> read_by_outputs(const TapRow& row, std::int64_t tap) const {
    Field<T> x = x_;
    for (std::size_t a = 0; a < kAxes; ++a) {
      const Axis& axis = layer_.axes[a];
      x.origin += ((a == 3 ? tap : row.taps[a]) * axis.dilation - axis.pad) * x_.step[a];
      x.step[a] *= axis.stride;
    }
    return x;
  }

  // Every row of `outputs`, from its first position. Those of one position, the edges, are runs along the axis before.
  RunList runs_over(const Box& outputs, const TapRow& row, std::int64_t tap) const {
    const bool swapped = p_.form == FilterForm::swapped;
    const Field<T> x = read_by_outputs(row, tap), &a = swapped ? dy_ : x, &b = swapped ? x : dy_;
    const std::size_t axis = outputs.extent(3) == 1 ? 2 : 3;
    RunList list(bench_.runs, {a.step[axis], b.step[axis]});
    for_each_row(outputs, [&](const Position& o) { list.add(a.offset(o), b.offset(o), outputs.extent(3)); });
    list.close();
    return list;
  }

  // One tap: rows are the channels of one side.
  void add_tap(Box outputs, const TapRow& row, std::int64_t tap) const {
    clip(outputs, 3, tap);
    if (outputs.positions() == 0) return;
    const RunList list = runs_over(outputs, row, tap);
    const bool swapped = p_.form == FilterForm::swapped;
    const std::int64_t rows = swapped ? block_.co_count : block_.ci_count;
    const std::int64_t first = (row.index * layer_.axes[3].taps + tap) * (swapped ? p_.co_each : p_.ci_each);
    add_rows(list, {.first = first,
                    .rows = rows,
                    .lanes = swapped ? block_.ci_count : block_.co_count,
                    .a_row = swapped ? dy_.channel : x_.channel});
  }

  // All taps that a stretch of the last axis shares, as rows of one matrix.
  void add_stretch(Box outputs, const TapRow& row, const Stretch& part) const {
    outputs.begin[3] = part.first;
    outputs.end[3] = part.first + part.count;
    const RunList list = runs_over(outputs, row, part.tap);
    const std::int64_t tap = row.index * layer_.axes[3].taps + part.tap;
    if (p_.form == FilterForm::swapped) {
      add_rows(list, {.first = row.index * p_.co_each,
                      .rows = block_.co_count,
                      .lanes = part.taps * layer_.c_in,
                      .a_row = dy_.channel,
                      .first_lane = part.tap * layer_.c_in});
      return;
    }
    if (p_.merged && !planar_x(p_)) {
      add_rows(list,
               {.first = tap * layer_.c_in, .rows = part.taps * layer_.c_in, .lanes = block_.co_count, .a_row = 1});
      return;
    }
    for (std::int64_t e = 0; e < layer_.c_in; ++e) {
      add_rows(list, {.first = tap * layer_.c_in + e,
                      .rows = part.taps,
                      .lanes = block_.co_count,
                      .a_row = layer_.axes[3].dilation * x_.step[3],
                      .a_offset = e * x_.channel,
                      .row_step = layer_.c_in});
    }
  }

  struct Rows {
    std::int64_t first, rows, lanes, a_row;
    std::int64_t a_offset = 0;
    std::int64_t row_step = 1;    // in rows of the block of dw
    std::int64_t first_lane = 0;  // in the block of dw
  };

  void add_rows(const RunList& list, const Rows& r) const {
    const bool lanewise = p_.form == FilterForm::lanewise, swapped = p_.form == FilterForm::swapped;
    const TileShapes<T>& shapes = lanewise ? job_.set.tile.lanewise : job_.set.tile.dense[0];
    const Field<T>&a = swapped ? dy_ : x_, &b = swapped ? x_ : dy_;
    const LaneBlocks lanes(r.lanes, job_.set.tile.lanes, widest(job_.set.tile));
    for (std::int64_t block = 0; block < lanes.count; ++block) {
      const std::int64_t lane = lanes.begin(block);
      TileArgs<T> args{};
      args.a = a.base + r.a_offset + (lanewise ? lane : 0);
      args.a_row = r.a_row;
      args.a_step = list.steps().a;
      args.a_unit = 1;
      args.b = b.base + lane;
      args.b_step = list.steps().b;
      args.b_unit = 1;
      args.runs = list.begin();
      args.run_count = list.count();
      args.c = args.out = sums_ + r.first * p_.pitch + r.first_lane + lane;
      args.c_row = args.out_row = r.row_step * p_.pitch;
      args.lanes = lanes.width(block);
      args.out_is_far = true;
      sweep_rows(shapes, args, lanes.padded(block) / lanes.vector, r.rows);
    }
  }

  const Job<T>& job_;
  const FilterProgram& p_;
  const Layer& layer_;
  const FilterBlock block_;
  const Workbench<T>& bench_;
  Field<T> x_, dy_;
  T* sums_ = nullptr;
  T one_ = T(1);
};

template <class T>
void run_unit(void* context, std::int64_t index, int worker) {
  const Job<T>& job = *static_cast<Job<T>*>(context);
  const FilterProgram& p = job.p;
  const Workbench<T> bench = workbench_of<Workbench<T>>(job.carve, job.p, worker);
  const FilterBlock block = p.block(index / p.slices);
  const std::int64_t slice = index % p.slices;
  const FilterSums<T> sums = keeps_sums(p) ? job.slices.at(index) : bench.sums;
  const std::int64_t regions = p.slice_begin(slice + 1) - p.slice_begin(slice);
  Unit<T>(job, block, bench).add_slice(slice, sums, [&](std::int64_t done) {
    if (job.course.added != nullptr) job.course.added(job.course.context, {index, done, regions, worker});
  });
  if (!keeps_sums(p)) write_block(p, block, sums, job.target);
}

template <class T>
void run_piece(void* context, std::int64_t index, int worker) {
  const Job<T>& job = *static_cast<Job<T>*>(context);
  const FilterProgram& p = job.p;
  const Workbench<T> bench = workbench_of<Workbench<T>>(job.carve, job.p, worker);
  const std::int64_t block = index / p.piece_count();
  const auto piece = static_cast<std::size_t>(index % p.piece_count());
  Unit<T>(job, p.block(block), bench)
      .add_piece(p.pieces[piece], p.pieces[piece + 1], job.slices.pieces + index * job.slices.block,
                 [](std::int64_t) {});
}

// Pieces in order, into their slices.
template <class T>
void join_pieces(const Job<T>& job, std::int64_t block) {
  const FilterProgram& p = job.p;
  const SliceSums<T>& s = job.slices;
  T* sums = s.pieces + block * p.piece_count() * s.block;
  for (std::int64_t slice = 0, piece = 0; slice < p.slices; ++slice) {
    const auto [hi, lo] = s.at(block * p.slices + slice);
    clear(hi, s.block);
    clear(lo, s.block);
    for (; p.pieces[static_cast<std::size_t>(piece)] < p.slice_begin(slice + 1); ++piece, sums += s.block)
      job.set.sums.fold({hi, lo, sums, nullptr, nullptr, s.block});
  }
}

template <class T>
void join_block(void* context, std::int64_t block, int) {
  const Job<T>& job = *static_cast<Job<T>*>(context);
  if (!job.p.pieces.empty()) join_pieces(job, block);
  join_slices(job.p, block, job.slices, job.target);
}

template <class T>
Status run_typed(const FilterProgram& p, const Kernels& kernels, const EngineArgs& args, DType dtype,
                 const Course& course) {
  Job<T> job(p, kernels, args, course, dtype);
  const auto workers = static_cast<int>(p.workers);
  const auto unit = p.pieces.empty() ? run_unit<T> : run_piece<T>;
  CONVGRAD_RETURN_IF_ERROR(run_units(course, {p.unit_count(), workers, unit, &job}));
  if (!keeps_sums(p)) return {};
  return spread(course.policy, {p.block_count(), workers, join_block<T>, &job});
}

}  // namespace

std::int64_t workspace_bytes(const FilterProgram& p, DType dtype) {
  return visit(dtype, [&]<class S>(S) {
    using T = typename DTypeOf<S>::Accumulator;
    Carver carve(nullptr);
    SliceSums<T>(carve, p);
    for (std::int64_t w = 0; w < p.workers; ++w) Workbench<T>(carve, p);
    return carve.used();
  });
}

Status run_filter(const FilterProgram& p, const Kernels& kernels, const Geometry& g, const EngineArgs& args,
                  const Course& course) {
  return visit(g.dtype, [&]<class S>(S) {
    return run_typed<typename DTypeOf<S>::Accumulator>(p, kernels, args, g.dtype, course);
  });
}

}  // namespace convgrad::cpu

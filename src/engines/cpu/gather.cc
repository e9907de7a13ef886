#include "engines/cpu/gather.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "engines/cpu/gather_job.h"
#include "engines/cpu/gather_pairs.h"
#include "engines/cpu/runs.h"
#include "engines/spread.h"

namespace convgrad::cpu {
namespace {

// Of the panel: a part (18 KB in f32) that all tiles of a strip use before the next is fetched, beside their sums in
// the first cache.
constexpr std::int64_t kPanelSteps = 72;
// Of the panels of several lane blocks that all strips use before the next: in the second cache.
constexpr std::int64_t kPanelsBytes = std::int64_t{512} << 10;

// One region of the result and one part of its channels.
template <class T>
class Unit {
 public:
  Unit(const GatherJob<T>& job, const Box& region, const Part& part, const GatherBench<T>& bench)
      : job_(job), p_(job.p), part_(part), bench_(bench), region_(region), blocks_(lane_blocks(p_)) {}

  // Long rows where they lie, the rest (edges, mostly) transposed.
  void run_planar() {
    bring_planes();
    each_class(p_, region_, [&](const Class& c) {
      if (!has_taps(c)) {
        clear_planes(c);
      } else if (c[3].count < kLongRow) {
        Unit(job_, box_of(c), part_, bench_).run();
      } else {
        add_planes(c);
      }
    });
  }

  void run() {
    bring_source();
    const bool in_place = direct(p_.result);
    result_ = in_place ? direct_field<T>(job_.result, p_.result, part_.channel)
                       : staged_field(bench_.result, region_, result_pitch(part_.channels));
    each_class(p_, region_,
               [&](const Class& c) { has_taps(c) ? add_class(c) : clear_class(result_, c, part_.channels); });
    if (!in_place)
      stage_out(job_.kernels.copy, result_, {p_.result, region_, part_.channel, part_.channels}, job_.result);
  }

 private:
  // The positions of a class whose steps are 1.
  static Box box_of(const Class& c) {
    Box box;
    for (std::size_t a = 0; a < kAxes; ++a) {
      box.begin[a] = c[a].first;
      box.end[a] = c[a].first + c[a].count;
    }
    return box;
  }

  void bring_planes() {
    const Box box = source_box(p_, region_);
    source_ = planar_field(bench_.source_planes, box, plane_pitch(box.positions()));
    bring(box, 0);
  }

  // What taps read of a box of the source, without the gaps between them on axes from `axis` to the last but one.
  void bring(Box box, std::size_t axis) const {
    while (axis < 3 && !leaves_gaps(p_, region_, axis)) ++axis;
    if (axis == 3)
      return stage_in(job_.kernels.copy, job_.source, {p_.source, box, part_.source, part_.sources}, source_);
    for (std::int64_t tap = 0; tap < p_.layer.axes[axis].taps; ++tap) {
      std::tie(box.begin[axis], box.end[axis]) = source_range(p_, region_, axis, tap, tap);
      bring(box, axis + 1);
    }
  }

  void bring_source() {
    const Box box = source_box(p_, region_);
    if (direct(p_.source)) {
      source_ = direct_field<T>(job_.source, p_.source, part_.source);
    } else {
      source_ = staged_field(bench_.source, box, part_.sources);
      bring(box, 0);
    }
    if (!spreads_channels(p_)) return;
    source_ = spread_channels(job_.set.expand, source_, box, {p_.k, p_.n, part_.channel, part_.channels, part_.source},
                              bench_.spread_source, bench_.index);
    source_.channel = box.positions() * source_.step[3];
  }

  void clear_planes(const Class& c) const {
    const auto bytes = static_cast<std::int64_t>(size_of(job_.dtype));
    const Field<char> tensor = direct_field<char>(job_.result, p_.result, part_.channel);
    each_row(c, 3, [&](const Position& m, std::int64_t) {
      Position p;
      for (std::size_t a = 0; a < kAxes; ++a) p[a] = c[a].first + m[a];
      for (std::int64_t channel = 0; channel < part_.channels; ++channel) {
        char* row = tensor.base + (tensor.offset(p) + channel * tensor.channel) * bytes;
        std::memset(row, 0, static_cast<std::size_t>(c[3].count * bytes));
      }
    });
  }

  void add_class(const Class& c) const {
    const RunList list = runs_of(c);
    const std::size_t axis = longest(c);
    if (p_.form == GatherForm::dot) {
      for (std::int64_t group = part_.first_item; group < part_.end_item; ++group) add_dot(c, axis, list, group);
      return;
    }
    if (p_.form == GatherForm::lanewise) {
      for (std::int64_t item = part_.first_item; item < part_.end_item; ++item) {
        const Tiles tiles = lane_tiles(c, axis, item);
        each_strip(c, axis, [&](const Strip& strip) { add_strip(strip, list, tiles); });
      }
      return;
    }
    list.block_end(0) == list.count() ? add_panels(c, axis, list) : add_panel_blocks(c, axis, list);
  }

  // As many lane blocks at a time as have their panels in the second cache, so that a strip's source is read once for
  // all of them.
  void add_panels(const Class& c, std::size_t axis, const RunList& list) const {
    const std::int64_t panel = list.length() * p_.lanes * p_.widest * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t several = std::max<std::int64_t>(1, kPanelsBytes / panel);
    for (std::int64_t first = part_.first_item; first < part_.end_item; first += several) {
      const std::int64_t end = std::min(first + several, part_.end_item);
      each_strip(c, axis, [&](const Strip& strip) {
        for (std::int64_t item = first; item < end; ++item) add_strip(strip, list, dense_tiles(c, axis, item));
      });
    }
  }

  // One block of the sum after another, over all strips: a block's part of a panel is at most 512 KB of f32.
  void add_panel_blocks(const Class& c, std::size_t axis, const RunList& list) const {
    for (std::int64_t item = part_.first_item; item < part_.end_item; ++item)
      add_blocks(list, dense_tiles(c, axis, item), [&](const auto& visit) { each_strip(c, axis, visit); });
  }

  // A class with its positions in the lanes: filter in a, source in b.
  void add_planes(const Class& c) {
    const Box box = box_of(c);
    const bool in_place = !converts(p_.result);
    result_ = in_place ? direct_field<T>(job_.result, p_.result, part_.channel)
                       : planar_field(bench_.result_planes, box, plane_pitch(box.positions()));
    const RunList list = plane_runs_of(c);
    const LaneBlocks lanes(c[3].count, p_.lanes, p_.widest);
    each_row(c, 3, [&](const Position& m, std::int64_t) {
      for (std::int64_t block = 0; block < lanes.count; ++block) {
        const std::int64_t lane = lanes.begin(block);
        const PlaneTiles at{source_at(source_, c, m) + lane, result_at(result_, c, m) + lane, lanes.width(block),
                            lanes.padded(block)};
        for (std::int64_t item = part_.first_item; item < part_.end_item; ++item) add_plane_tiles(at, list, item);
      }
    });
    if (!in_place) stage_out(job_.kernels.copy, result_, {p_.result, box, part_.channel, part_.channels}, job_.result);
  }

  struct PlaneTiles {
    std::int64_t source, result;  // offsets of the first lane
    std::int64_t lanes, padded;
  };

  void add_plane_tiles(const PlaneTiles& at, const RunList& list, std::int64_t item) const {
    const std::int64_t group = item / blocks_.count, block = item % blocks_.count, channel = blocks_.begin(block);
    TileArgs<T> args{};
    args.a = panel_of(job_, group, channel);
    args.a_row = 1;
    args.a_step = args.a_unit = blocks_.padded(block);
    args.b = source_.base + at.source + (group * p_.k - part_.source) * source_.channel;
    args.b_step = source_.channel;
    args.b_unit = 1;
    args.lanes = at.lanes;
    args.out = result_.base + (group * p_.n + channel - part_.channel) * result_.channel;
    args.out_row = result_.channel;
    Strip strip;
    strip.segments[0] = {0, at.result, blocks_.width(block)};
    strip.count = 1;
    strip.rows = blocks_.width(block);
    add_strip(strip, list, {args, job_.set.tile.dense[0], at.padded / p_.lanes});
  }

  RunList plane_runs_of(const Class& c) const {
    RunList list(bench_.runs, {1, source_.channel});
    each_tap(c, [&](const Position& j) {
      list.add(panel_tap(p_, tap_number(p_, c, j)) * p_.k, tap_source(source_, c, j), p_.k);
    });
    list.close();
    return list;
  }

  // The taps of a class as runs, relative to a position's source.
  RunList runs_of(const Class& c) const {
    const bool lanewise = p_.form == GatherForm::lanewise;
    const RunSteps steps = lanewise ? lane_steps() : RunSteps{p_.terms, 1};
    RunList list(bench_.runs, steps, p_.form == GatherForm::dot ? kVirtualLanes<T> : 1);
    Class rows = c;
    if (lanewise) rows[3].taps = 1;  // those of the last axis are one run
    each_tap(rows, [&](const Position& j) {
      const std::int64_t at = tap_source(source_, c, j), tap = tap_number(p_, c, j);
      if (!lanewise) return list.add(at, panel_tap(p_, tap) * tap_steps(p_), tap_steps(p_));
      for (std::int64_t e = 0; e < p_.k; ++e)
        list.add(at + e * source_.channel, (tap * p_.k + e) * all_results(p_), c[3].taps);
    });
    list.close();
    return list;
  }

  // From one tap of the last axis to the next.
  RunSteps lane_steps() const {
    const Stretch& s = *std::max_element(p_.stretches[3].begin(), p_.stretches[3].end(),
                                         [](const Stretch& a, const Stretch& b) { return a.taps < b.taps; });
    return {s.source_per_tap * source_.step[3], s.tap_step * p_.layer.axes[3].tap_step * p_.k * all_results(p_)};
  }

  // Neighbours along the axis of a class, from a first one on: offsets in the source and in the result.
  struct Segment {
    std::int64_t source, result, rows;
  };
  struct Strip {
    std::array<Segment, kStripRows> segments;
    std::int64_t count = 0, rows = 0;
  };

  // Calls visit(strip) until all positions of a class were in one.
  template <class Visit>
  void each_strip(const Class& c, std::size_t axis, const Visit& visit) const {
    const std::int64_t pieces = ceil_div(c[axis].count, kStripRows);
    Strip strip;
    each_row(c, axis, [&](Position m, std::int64_t) {
      for (std::int64_t piece = 0; piece < pieces; ++piece) {
        m[axis] = c[axis].count * piece / pieces;
        const std::int64_t rows = c[axis].count * (piece + 1) / pieces - m[axis];
        if (strip.rows + rows > kStripRows) {
          visit(strip);
          strip.count = strip.rows = 0;
        }
        strip.segments[static_cast<std::size_t>(strip.count++)] = {source_at(source_, c, m), result_at(result_, c, m),
                                                                   rows};
        strip.rows += rows;
      }
    });
    visit(strip);
  }

  // What the tiles of all strips have in common: args.a and args.out are where offset 0 would lie.
  struct Tiles {
    TileArgs<T> args;
    const TileShapes<T>& shapes;
    std::int64_t vectors;
  };

  Tiles dense_tiles(const Class& c, std::size_t axis, std::int64_t item) const {
    const std::int64_t group = item / blocks_.count, block = item % blocks_.count, lane = blocks_.begin(block);
    const std::int64_t width = blocks_.padded(block);
    TileArgs<T> args = tile_args(c, axis);
    args.a += group * p_.k - part_.source;
    args.a_step = p_.terms;
    args.b = panel_of(job_, group, lane);
    args.b_step = args.b_unit = width;
    args.lanes = blocks_.width(block);
    args.out += group * p_.n + lane / p_.terms - part_.channel;
    return {args, job_.set.tile.dense[p_.terms / 2], width / p_.lanes};
  }

  Tiles lane_tiles(const Class& c, std::size_t axis, std::int64_t item) const {
    const std::int64_t lane = blocks_.begin(item);
    const RunSteps steps = lane_steps();
    TileArgs<T> args = tile_args(c, axis);
    args.a += lane - part_.channel;
    args.a_step = steps.a;
    args.b = (filter_in_place(p_) ? static_cast<const T*>(job_.filter) : job_.panel) + lane;
    args.b_step = steps.b;
    args.b_unit = 1;
    args.lanes = blocks_.width(item);
    args.out += lane - part_.channel;
    return {args, job_.set.tile.lanewise, blocks_.padded(item) / p_.lanes};
  }

  TileArgs<T> tile_args(const Class& c, std::size_t axis) const {
    TileArgs<T> args{};
    args.a_unit = 1;
    args.a = source_.base;
    args.a_row = c[axis].source_step * source_.step[axis];
    args.out = result_.base;
    args.out_row = c[axis].step * result_.step[axis];
    args.streams = job_.streams;
    return args;
  }

  void add_strip(const Strip& strip, const RunList& list, const Tiles& tiles) const {
    if (list.block_end(0) != list.count()) return add_blocks(list, tiles, [&](const auto& visit) { visit(strip); });
    add_runs(strip, list, tiles, {0, list.count(), p_.terms == 1});
    if (p_.terms > 1) join_strip(strip, tiles, bench_.sums.c);
  }

  // each(visit) calls visit(strip) for strips whose sums in twice the precision fit the bench together.
  template <class EachStrip>
  void add_blocks(const RunList& list, const Tiles& tiles, const EachStrip& each) const {
    for (std::int64_t begin = 0, end; begin < list.count(); begin = end) {
      end = list.block_end(begin);
      BlockSums<T> sums = bench_.sums;
      each([&](const Strip& strip) {
        const std::int64_t elements = strip.rows * tiles.vectors * p_.lanes;
        if (begin == 0) sums.clear(elements);
        add_runs(strip, list, tiles, {begin, end, false});
        sums.fold(job_.set.sums, elements);
        if (end == list.count()) settle_strip(strip, tiles, sums);
        sums.hi += elements;
        sums.lo += elements;
      });
    }
  }

  struct RunRange {
    std::int64_t begin, end;
    bool to_result;  // else the sums stay in bench_.sums.c
  };

  // Adds a range of runs up over a strip: sums rest in bench_.sums.c between the parts of the panel.
  void add_runs(const Strip& strip, const RunList& list, const Tiles& tiles, const RunRange& range) const {
    TileArgs<T> args = tiles.args;
    args.c_row = tiles.vectors * p_.lanes;
    for (std::int64_t part = range.begin, next; part < range.end; part = next) {
      next = list.whole_chunks(part, range.end, kPanelSteps);
      args.runs = list.begin() + part;
      args.run_count = next - part;
      args.first = part == range.begin;
      const bool to_result = args.out_is_far = range.to_result && next == range.end;
      args.streams = to_result && tiles.args.streams;
      args.out_row = to_result ? tiles.args.out_row : args.c_row;
      args.c = bench_.sums.c;
      for (std::int64_t i = 0; i < strip.count; ++i) {
        const Segment& segment = strip.segments[static_cast<std::size_t>(i)];
        args.a = tiles.args.a + segment.source;
        args.out = to_result ? tiles.args.out + segment.result : args.c;
        sweep_rows(tiles.shapes, args, tiles.vectors, segment.rows);
      }
    }
  }

  void settle_strip(const Strip& strip, const Tiles& tiles, BlockSums<T> sums) const {
    const std::int64_t pitch = tiles.vectors * p_.lanes;
    if (p_.terms > 1) {
      sums.settle(job_.set.sums, strip.rows * pitch);
      return join_strip(strip, tiles, sums.hi);
    }
    for (std::int64_t i = 0; i < strip.count; ++i) {
      const Segment& segment = strip.segments[static_cast<std::size_t>(i)];
      T* to = tiles.args.out + segment.result;
      for (std::int64_t row = 0; row < segment.rows;
           ++row, to += tiles.args.out_row, sums.hi += pitch, sums.lo += pitch)
        job_.set.sums.settle({sums.hi, sums.lo, nullptr, nullptr, to, tiles.args.lanes});
    }
  }

  void join_strip(const Strip& strip, const Tiles& tiles, const T* from) const {
    const std::int64_t pitch = tiles.vectors * p_.lanes, count = tiles.args.lanes / p_.terms;
    for (std::int64_t i = 0; i < strip.count; ++i) {
      const Segment& segment = strip.segments[static_cast<std::size_t>(i)];
      job_.set.sums.join(
          {from, pitch, tiles.args.out + segment.result, tiles.args.out_row, segment.rows, count, p_.terms});
      from += segment.rows * pitch;
    }
  }

  void add_dot(const Class& c, std::size_t axis, const RunList& list, std::int64_t group) const {
    DotArgs<T> args{};
    args.a_row = c[axis].source_step * source_.step[axis];
    args.b = job_.panel + group * p_.layer.taps * p_.k * p_.n;
    args.b_col = p_.layer.taps * p_.k;
    args.b_unit = 1;
    args.runs = list.begin();
    args.run_count = list.count();
    args.c_row = c[axis].step * result_.step[axis];
    args.rows = c[axis].count;
    each_row(c, axis, [&](const Position& m, std::int64_t) {
      args.a = source_.base + group * p_.k - part_.source + source_at(source_, c, m);
      args.c = result_.base + group * p_.n - part_.channel + result_at(result_, c, m);
      job_.set.dot.fn[p_.n - 1](args);
    });
  }

  const GatherJob<T>& job_;
  const GatherProgram& p_;
  const Part part_;
  const GatherBench<T>& bench_;
  const Box region_;
  const LaneBlocks blocks_;
  Field<T> source_, result_;
};

template <class T>
void run_unit(void* context, std::int64_t index, int worker) {
  const GatherJob<T>& job = *static_cast<GatherJob<T>*>(context);
  const GatherBench<T> bench = workbench_of<GatherBench<T>>(job.carve, job.p, worker);
  Unit<T> unit(job, job.p.region_box(index / job.p.parts), part_of(job.p, index % job.p.parts), bench);
  job.p.planar ? unit.run_planar() : unit.run();
  if (job.streams) job.kernels.fence();
}

template <class T>
Status run_typed(const GatherProgram& p, const Kernels& kernels, const EngineArgs& args, DType dtype,
                 const Course& course) {
  GatherJob<T> job(p, kernels, args, dtype);
  CONVGRAD_RETURN_IF_ERROR(pack_filter(job, course.policy));
  return run_units(course, {p.region_count() * p.parts, static_cast<int>(p.workers), run_unit<T>, &job});
}

}  // namespace

std::int64_t workspace_bytes(const GatherProgram& p, DType dtype) {
  if (p.form == GatherForm::pairs) return pairs_workspace_bytes(p);
  return visit(dtype, [&]<class S>(S) {
    using T = typename DTypeOf<S>::Accumulator;
    Carver carve(nullptr);
    carve.take<T>(p.panel);
    for (std::int64_t w = 0; w < p.workers; ++w) GatherBench<T>(carve, p);
    return carve.used();
  });
}

Status run_gather(const GatherProgram& p, const Kernels& kernels, const Geometry& g, const EngineArgs& args,
                  const Course& course) {
  if (p.form == GatherForm::pairs) return run_gather_pairs(p, kernels, g, args, course);
  return visit(g.dtype, [&]<class S>(S) {
    return run_typed<typename DTypeOf<S>::Accumulator>(p, kernels, args, g.dtype, course);
  });
}

}  // namespace convgrad::cpu

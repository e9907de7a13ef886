#include "engines/cpu/gather.h"

#include <algorithm>

#include "engines/cpu/carve.h"
#include "engines/cpu/gather_classes.h"
#include "engines/cpu/gather_pairs.h"
#include "engines/cpu/runs.h"
#include "engines/spread.h"

namespace convgrad::cpu {
namespace {

constexpr std::int64_t kPanelSteps = 512;  // 128 KB of panel beside the region's own data

// Memory of one worker.
template <class T>
struct Workbench {
  T *source, *spread_source, *result;
  BlockSums<T> sums;
  std::int32_t* index;
  Run* runs;

  Workbench(Carver& carve, const GatherProgram& p) {
    const std::int64_t positions = volume(p.region), box = volume(p.source_most);
    const std::int64_t channels = round_up(most(p, &Part::channels), kAlign), taps = p.layer.taps;
    source = carve.take<T>(direct(p.source) ? 0 : box * most(p, &Part::sources));
    spread_source = carve.take<T>(spreads_channels(p) ? p.k * box * channels : 0);
    index = carve.take<std::int32_t>(spreads_channels(p) ? channels : 0);
    result = carve.take<T>(direct(p.result) ? 0 : positions * channels);
    const std::int64_t block = p.several_blocks ? positions * p.lanes * p.widest : 0;
    sums = {carve.take<T>(block), carve.take<T>(block), carve.take<T>(block)};
    runs = carve.take<Run>(RunList::most(p.form == GatherForm::lanewise ? taps * p.k : taps, taps * p.k));
  }
};

template <class T>
struct Job {
  const GatherProgram& p;
  const Kernels& kernels;
  const KernelSet<T>& set;
  const void* filter;
  const void* source;
  void* result;
  DType dtype;
  Carver carve;
  T* panel;

  Job(const GatherProgram& program, const Kernels& all, const EngineArgs& args, DType type)
      : p(program),
        kernels(all),
        set(all.of<T>()),
        filter(program.backward ? args.first : args.second),
        source(program.backward ? args.second : args.first),
        result(args.result),
        dtype(type),
        carve(args.workspace),
        panel(carve.take<T>(program.panel)) {}
};

// One tap of one group: rows are source channels, columns result channels.
template <class T>
void pack_tap(void* context, std::int64_t index, int) {
  const Job<T>& job = *static_cast<Job<T>*>(context);
  const GatherProgram& p = job.p;
  const Layer& l = p.layer;
  const std::int64_t tap = index % l.taps, group = index / l.taps, row = panel_tap(p, tap) * p.k;
  const auto bytes = static_cast<std::int64_t>(size_of(job.dtype));
  const auto [first, from_k, from_n] = tap_matrix(p, tap, group);
  const char* from = static_cast<const char*>(job.filter) + first * bytes;
  const CopyFn copy = job.kernels.copy.in[static_cast<int>(job.dtype)];
  if (p.form == GatherForm::dot) {
    T* to = job.panel + group * l.taps * p.k * p.n + row;
    copy({from, from_n, from_k, to, l.taps * p.k, 1, p.n, p.k});
    return;
  }
  const LaneBlocks blocks = lane_blocks(p);
  for (std::int64_t b = 0; b < blocks.count; ++b) {
    const std::int64_t lane = blocks.begin(b), width = blocks.padded(b);
    T* to = job.panel + (group * round_up(p.n, p.lanes) + lane) * l.taps * p.k + row * width;
    copy({from + lane * from_n * bytes, from_k, from_n, to, width, 1, p.k, blocks.width(b)});
  }
}

// Lanewise: row (tap, e), lane = result channel.
template <class T>
void pack_lanes(void* context, std::int64_t tap, int) {
  const Job<T>& job = *static_cast<Job<T>*>(context);
  const GatherProgram& p = job.p;
  const Layer& l = p.layer;
  const auto bytes = static_cast<std::int64_t>(size_of(job.dtype));
  const char* from = static_cast<const char*>(job.filter) + tap * l.c_in * l.all_out() * bytes;
  const CopyFn copy = job.kernels.copy.in[static_cast<int>(job.dtype)];
  for (std::int64_t e = 0; e < p.k; ++e) {
    T* to = job.panel + (tap * p.k + e) * all_results(p);
    if (p.backward) {
      copy({from + e * bytes, l.c_out, l.all_out(), to, l.c_in, 1, l.groups, l.c_in});
    } else {
      copy({from + e * l.all_out() * bytes, l.all_out(), 1, to, l.all_out(), 1, 1, l.all_out()});
    }
  }
}

// One region of the result and one part of its channels.
template <class T>
class Unit {
 public:
  Unit(const Job<T>& job, std::int64_t region, const Part& part, const Workbench<T>& bench)
      : job_(job), p_(job.p), part_(part), bench_(bench), region_(p_.region_box(region)) {}

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
  void bring_source() {
    const Box box = source_box(p_, region_);
    if (direct(p_.source)) {
      source_ = direct_field<T>(job_.source, p_.source, part_.source);
    } else {
      source_ = staged_field(bench_.source, box, part_.sources);
      stage_in(job_.kernels.copy, job_.source, {p_.source, box, part_.source, part_.sources}, source_);
    }
    if (!spreads_channels(p_)) return;
    source_ = spread_channels(job_.set.expand, source_, box, {p_.k, p_.n, part_.channel, part_.channels, part_.source},
                              bench_.spread_source, bench_.index);
    plane_ = box.positions() * source_.step[3];
  }

  void add_class(const Class& c) const {
    const RunList list = runs_of(c);
    const std::size_t axis = longest(c);
    for (std::int64_t item = part_.first_item; item < part_.end_item; ++item) {
      switch (p_.form) {
        case GatherForm::dense: add_dense(c, axis, list, item); break;
        case GatherForm::dot: add_dot(c, axis, list, item); break;
        case GatherForm::lanewise: add_lanes(c, axis, list, item); break;
        case GatherForm::pairs: break;  // gather_pairs.cc
      }
    }
  }

  // The taps of a class as runs, relative to a position's source.
  RunList runs_of(const Class& c) const {
    const bool lanewise = p_.form == GatherForm::lanewise;
    const RunSteps steps = lanewise ? lane_steps() : RunSteps{1, 1};
    RunList list(bench_.runs, steps, p_.form == GatherForm::dot ? kVirtualLanes<T> : 1);
    Position j{};
    for (j[0] = 0; j[0] < c[0].taps; ++j[0])
      for (j[1] = 0; j[1] < c[1].taps; ++j[1])
        for (j[2] = 0; j[2] < c[2].taps; ++j[2]) {
          if (lanewise) {
            j[3] = 0;
            const std::int64_t at = tap_source(source_, c, j), tap = tap_number(p_, c, j);
            for (std::int64_t e = 0; e < p_.k; ++e)
              list.add(at + e * plane_, (tap * p_.k + e) * all_results(p_), c[3].taps);
          } else {
            for (j[3] = 0; j[3] < c[3].taps; ++j[3])
              list.add(tap_source(source_, c, j), panel_tap(p_, tap_number(p_, c, j)) * p_.k, p_.k);
          }
        }
    list.close();
    return list;
  }

  // From one tap of the last axis to the next.
  RunSteps lane_steps() const {
    const Stretch& s = *std::max_element(p_.stretches[3].begin(), p_.stretches[3].end(),
                                         [](const Stretch& a, const Stretch& b) { return a.taps < b.taps; });
    return {s.source_per_tap * source_.step[3], s.tap_step * p_.layer.axes[3].tap_step * p_.k * all_results(p_)};
  }

  TileArgs<T> tile_args(const Class& c, std::size_t axis) const {
    TileArgs<T> args{};
    args.a = source_.base;
    args.a_row = c[axis].source_step * source_.step[axis];
    args.c_row = c[axis].step * result_.step[axis];
    return args;
  }

  void add_dense(const Class& c, std::size_t axis, const RunList& list, std::int64_t item) const {
    const LaneBlocks blocks = lane_blocks(p_);
    const std::int64_t group = item / blocks.count, block = item % blocks.count, lane = blocks.begin(block);
    const std::int64_t width = blocks.padded(block);
    TileArgs<T> args = tile_args(c, axis);
    args.a += group * p_.k - part_.source;
    args.a_step = 1;
    args.b = job_.panel + (group * round_up(p_.n, p_.lanes) + lane) * p_.layer.taps * p_.k;
    args.b_step = args.b_unit = width;
    args.lanes = blocks.width(block);
    args.c = result_.base + group * p_.n + lane - part_.channel;
    add_tiles(c, axis, list, {args, job_.set.tile.along, width / p_.lanes});
  }

  void add_lanes(const Class& c, std::size_t axis, const RunList& list, std::int64_t item) const {
    const LaneBlocks blocks = lane_blocks(p_);
    const std::int64_t lane = blocks.begin(item);
    const RunSteps steps = lane_steps();
    TileArgs<T> args = tile_args(c, axis);
    args.a += lane - part_.channel;
    args.a_step = steps.a;
    args.b = (filter_in_place(p_) ? static_cast<const T*>(job_.filter) : job_.panel) + lane;
    args.b_step = steps.b;
    args.b_unit = 1;
    args.lanes = blocks.width(item);
    args.c = result_.base + lane - part_.channel;
    add_tiles(c, axis, list, {args, job_.set.tile.lanewise, blocks.padded(item) / p_.lanes});
  }

  struct Tiles {
    TileArgs<T> args;
    const TileShapes<T>& shapes;
    std::int64_t vectors;
  };

  // Where the sums of a class go: positions of the result, or rows of the workbench.
  struct Target {
    T* base;
    bool in_result;
    std::int64_t c_row;
  };

  // Runs [begin, end) into the target, which they overwrite. The panel is taken in parts that stay in the
  // second cache while all tiles of the class use them.
  void add_runs(const Class& c, std::size_t axis, const RunList& list, const Tiles& tiles, const Target& to,
                std::int64_t begin, std::int64_t end) const {
    const std::int64_t rows = c[axis].count;
    TileArgs<T> args = tiles.args;
    args.c_row = to.c_row;
    for (std::int64_t part = begin, next; part < end; part = next) {
      next = list.whole_chunks(part, end, kPanelSteps);
      args.runs = list.begin() + part;
      args.run_count = next - part;
      args.first = part == begin;
      each_row(c, axis, [&](const Position& m, std::int64_t row) {
        TileArgs<T> one = args;
        one.a += source_at(source_, c, m);
        one.c = to.base + (to.in_result ? result_at(result_, c, m) : row * rows * to.c_row);
        sweep_rows(tiles.shapes, one, tiles.vectors, rows);
      });
    }
  }

  void add_tiles(const Class& c, std::size_t axis, const RunList& list, const Tiles& tiles) const {
    if (list.block_end(0) < list.count()) {
      add_blocks(c, axis, list, tiles);
    } else {
      add_runs(c, axis, list, tiles, {tiles.args.c, true, tiles.args.c_row}, 0, list.count());
    }
  }

  // Sums of several blocks: each block into c, then folded; settled at the end.
  void add_blocks(const Class& c, std::size_t axis, const RunList& list, const Tiles& tiles) const {
    const std::int64_t pitch = tiles.vectors * p_.lanes, elements = positions(c) * pitch;
    bench_.sums.clear(elements);
    for (std::int64_t begin = 0, end; begin < list.count(); begin = end) {
      end = list.block_end(begin);
      add_runs(c, axis, list, tiles, {bench_.sums.c, false, pitch}, begin, end);
      bench_.sums.fold(job_.set.sums, elements);
    }
    bench_.sums.settle(job_.set.sums, elements);
    write_class(result_, c, axis, {bench_.sums.hi, pitch, tiles.args.lanes}, tiles.args.c);
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

  const Job<T>& job_;
  const GatherProgram& p_;
  const Part part_;
  const Workbench<T>& bench_;
  const Box region_;
  Field<T> source_, result_;
  std::int64_t plane_ = 0;
};

template <class T>
void run_unit(void* context, std::int64_t index, int worker) {
  const Job<T>& job = *static_cast<Job<T>*>(context);
  const Workbench<T> bench = workbench_of<Workbench<T>>(job.carve, job.p, worker);
  Unit<T>(job, index / job.p.parts, part_of(job.p, index % job.p.parts), bench).run();
}

template <class T>
Status pack_filter(Job<T>& job, const Policy& policy) {
  const GatherProgram& p = job.p;
  if (p.panel == 0) return {};
  const bool lanewise = p.form == GatherForm::lanewise;
  const std::int64_t units = lanewise ? p.layer.taps : p.layer.taps * p.layer.groups;
  return spread(policy, {units, static_cast<int>(p.workers), lanewise ? pack_lanes<T> : pack_tap<T>, &job});
}

template <class T>
Status run_typed(const GatherProgram& p, const Kernels& kernels, const EngineArgs& args, DType dtype,
                 const Policy& policy) {
  Job<T> job(p, kernels, args, dtype);
  CONVGRAD_RETURN_IF_ERROR(pack_filter(job, policy));
  return spread(policy, {p.region_count() * p.parts, static_cast<int>(p.workers), run_unit<T>, &job});
}

}  // namespace

std::int64_t workspace_bytes(const GatherProgram& p, DType dtype) {
  if (p.form == GatherForm::pairs) return pairs_workspace_bytes(p);
  return visit(dtype, [&]<class S>(S) {
    using T = typename DTypeOf<S>::Accumulator;
    Carver carve(nullptr);
    carve.take<T>(p.panel);
    for (std::int64_t w = 0; w < p.workers; ++w) Workbench<T>(carve, p);
    return carve.used();
  });
}

Status run_gather(const GatherProgram& p, const Kernels& kernels, const Geometry& g, const EngineArgs& args,
                  const Policy& policy) {
  if (p.form == GatherForm::pairs) return run_gather_pairs(p, kernels, args, policy);
  return visit(g.dtype, [&]<class S>(S) {
    return run_typed<typename DTypeOf<S>::Accumulator>(p, kernels, args, g.dtype, policy);
  });
}

}  // namespace convgrad::cpu

#include "engines/cpu/filter_pairs.h"

#include <algorithm>
#include <atomic>

#include "engines/cpu/filter_grad.h"
#include "engines/cpu/filter_sums.h"
#include "engines/cpu/runs.h"
#include "engines/spread.h"

namespace convgrad::cpu {
namespace {

// Memory of one worker.
struct Workbench {
  float* c;
  FilterSums<float> sums;  // of the only slice
  std::uint16_t *x, *dy;

  Workbench(Carver& carve, const FilterPairsProgram& p) {
    const std::int64_t block = block_elements(p.cut), own = keeps_sums(p.cut) ? 0 : block;
    c = carve.take<float>(block);
    sums.hi = carve.take<float>(own);
    sums.lo = carve.take<float>(own);
    x = carve.take<std::uint16_t>(p.phase_count() * p.cut.ci_each * p.most_row);
    dy = carve.take<std::uint16_t>(p.most_terms * round_up(p.cut.co_each, kPairLanes));
  }
};

struct Job {
  const FilterPairsProgram& p;
  const Kernels& kernels;
  const std::uint16_t *x, *dy;
  Carver carve;
  SliceSums<float> slices;
  FilterTarget target;
  std::atomic<bool> special{false};

  Job(const FilterPairsProgram& program, const Kernels& all, const EngineArgs& args)
      : p(program),
        kernels(all),
        x(static_cast<const std::uint16_t*>(args.first)),
        dy(static_cast<const std::uint16_t*>(args.second)),
        carve(args.workspace),
        slices(carve, program.cut),
        target{all, DType::bf16, args.result} {}
};

// One block of dw over one slice of the positions.
class Unit {
 public:
  Unit(Job& job, const FilterBlock& block, const Workbench& bench)
      : job_(job), p_(job.p), layer_(job.p.cut.layer), block_(block), bench_(bench) {}

  // The sum over the regions, unless a special value is met.
  void add_up(std::int64_t first_region, std::int64_t end_region, const FilterSums<float>& sums) {
    clear(sums.hi, block_elements(p_.cut));
    clear(sums.lo, block_elements(p_.cut));
    clear(bench_.c, block_elements(p_.cut));
    std::int64_t terms = 0;
    for (std::int64_t r = first_region; r < end_region && !job_.special.load(std::memory_order_relaxed); ++r) {
      const Box region = p_.cut.region_box(r);
      if (terms > 0 && terms + region.positions() > kBlockSteps) {
        fold(sums);
        terms = 0;
      }
      add_region(region);
      terms += region.positions();
    }
    fold(sums);
    p_.pairs->leave(tiles_);
  }

 private:
  // Ends a block of terms, if it has any.
  void fold(const FilterSums<float>& sums) {
    if (first_) return;
    job_.kernels.f32.sums.fold({sums.hi, sums.lo, bench_.c, nullptr, nullptr, block_elements(p_.cut)});
    first_ = true;
  }

  void add_region(const Box& region) {
    const LinearSpace last = space_;
    space_ = linear_space(layer_, region);
    if (space_.empty()) return;
    // Pixels are written over pixels where gaps stay gaps; the last j of a phase may not exist.
    const bool same_gaps = space_.laid_out_like(last);
    if (!same_gaps) clear(bench_.dy, dy_elements());
    if (!same_gaps || p_.phase_count() > 1) clear(bench_.x, x_elements());
    bring_x();
    bring_dy(region);
    const PackTable& pack = job_.kernels.pack;
    if (pack.has_special(bench_.x, x_elements()) || pack.has_special(bench_.dy, dy_elements())) {
      job_.special.store(true, std::memory_order_relaxed);
      return;
    }
    const std::int64_t lanes = p_.pairs->widest * kPairLanes;
    for (std::int64_t lane = 0; lane < block_.co_count; lane += lanes)
      each_tap([&](const Position& tap, std::int64_t number) { add_tap(region, tap, number, lane); });
    first_ = false;
  }

  std::int64_t x_elements() const { return p_.phase_count() * block_.ci_count * space_.row; }
  std::int64_t dy_elements() const { return round_up(block_.co_count, kPairLanes) * space_.terms; }

  // Calls visit(tap, number in the block).
  template <class Visit>
  void each_tap(const Visit& visit) const {
    std::int64_t number = 0;
    for (std::int64_t row = block_.tap_row; row < block_.tap_row + block_.tap_rows; ++row) {
      Position tap = taps_of(layer_, row);
      for (tap[3] = 0; tap[3] < layer_.axes[3].taps; ++tap[3]) visit(tap, number++);
    }
  }

  // Every phase of the inputs, each channel a row.
  void bring_x() const {
    const Position& phases = p_.phases;
    for (std::int64_t number = 0; number < p_.phase_count(); ++number) {
      Position first;
      std::int64_t rest = number;
      for (std::size_t a = kAxes; a-- > 0;) {
        first[a] = phase_of(layer_.axes[a], rest % phases[a]);
        rest /= phases[a];
      }
      bring_phase(first, bench_.x + number * block_.ci_count * space_.row + space_.before);
    }
  }

  // Inputs phase + stride * j, for the j of the space that exist.
  void bring_phase(const Position& phase, std::uint16_t* to) const {
    Box box;
    for (std::size_t a = 0; a < kAxes; ++a) {
      const std::int64_t exist = ceil_div(layer_.axes[a].in - phase[a], layer_.axes[a].stride);
      box.begin[a] = space_.first_in[a];
      box.end[a] = std::max(box.begin[a], std::min(box.begin[a] + space_.ins[a], exist));
    }
    const Image& image = p_.cut.x;
    const std::int64_t channel = block_.group * layer_.c_in + block_.ci;
    for_each_row(box, [&](const Position& j) {
      std::int64_t from = image.origin + channel * image.channel_step, at = 0;
      for (std::size_t a = 0; a < kAxes; ++a) {
        from += (phase[a] + j[a] * layer_.axes[a].stride) * image.step[a];
        at += (j[a] - space_.first_in[a]) * space_.step[a];
      }
      job_.kernels.pack.rows({job_.x + from, image.channel_step, layer_.axes[3].stride * image.step[3], to + at,
                              space_.row, block_.ci_count, box.extent(3)});
    });
  }

  void bring_dy(const Box& region) const {
    const Image& image = p_.cut.dy;
    const Transfer transfer{image, region, block_.group * layer_.c_out + block_.co, block_.co_count};
    for_each_row(region, [&](const Position& o) {
      std::int64_t at = 0;
      for (std::size_t a = 0; a < kAxes; ++a) at += (o[a] - region.begin[a]) * space_.step[a];
      job_.kernels.pack.pairs({job_.dy + element(transfer, o), image.step[3], image.channel_step,
                               bench_.dy + at * kPairLanes, space_.terms * kPairLanes, region.extent(3),
                               block_.co_count});
    });
  }

  void add_tap(const Box& region, const Position& tap, std::int64_t number, std::int64_t lane) {
    std::int64_t phase = 0, distance = space_.before;
    for (std::size_t a = 0; a < kAxes; ++a) {
      const Axis& axis = layer_.axes[a];
      phase = phase * p_.phases[a] + tap[a] % phase_cycle(axis);
      distance += (region.begin[a] + shift_of(axis, tap[a]) - space_.first_in[a]) * space_.step[a];
    }
    const PairRun run{distance, 0, space_.terms / kPairStep};
    PairArgs args{};
    args.a = bench_.x + phase * block_.ci_count * space_.row;
    args.a_row = space_.row;
    args.b = bench_.dy + lane * space_.terms;
    args.b_vector = space_.terms * kPairLanes;
    args.runs = &run;
    args.run_count = 1;
    args.c = bench_.c + number * p_.cut.ci_each * p_.cut.pitch + lane;
    args.c_row = p_.cut.pitch;
    args.rows = block_.ci_count;
    args.lanes = std::min(block_.co_count - lane, p_.pairs->widest * kPairLanes);
    args.first = first_;
    args.tiles = &tiles_;
    p_.pairs->multiply(args);
  }

  Job& job_;
  const FilterPairsProgram& p_;
  const Layer& layer_;
  const FilterBlock block_;
  const Workbench& bench_;
  LinearSpace space_;
  bool first_ = true;  // of its block of terms: c is overwritten
  TileShape tiles_;
};

void run_unit(void* context, std::int64_t index, int worker) {
  Job& job = *static_cast<Job*>(context);
  const FilterProgram& p = job.p.cut;
  const Workbench bench = workbench_of<Workbench>(job.carve, job.p, worker);
  const FilterBlock block = p.block(index / p.slices);
  const std::int64_t slice = index % p.slices;
  const FilterSums<float> sums = keeps_sums(p) ? job.slices.at(index) : bench.sums;
  Unit(job, block, bench).add_up(p.slice_begin(slice), p.slice_begin(slice + 1), sums);
  if (!keeps_sums(p)) write_block(p, block, sums, job.target);
}

void join_block(void* context, std::int64_t block, int) {
  const Job& job = *static_cast<Job*>(context);
  join_slices(job.p.cut, block, job.slices, job.target);
}

}  // namespace

std::int64_t workspace_bytes(const FilterPairsProgram& p, DType dtype) {
  Carver carve(nullptr);
  SliceSums<float>(carve, p.cut);
  for (std::int64_t w = 0; w < p.cut.workers; ++w) Workbench(carve, p);
  return std::max(carve.used(), workspace_bytes(p.exact, dtype));
}

Status run_filter_pairs(const FilterPairsProgram& p, const Kernels& kernels, const Geometry& g, const EngineArgs& args,
                        const Policy& policy) {
  Job job(p, kernels, args);
  const auto workers = static_cast<int>(p.cut.workers);
  CONVGRAD_RETURN_IF_ERROR(spread(policy, {p.cut.unit_count(), workers, run_unit, &job}));
  if (job.special.load()) return run_filter(p.exact, kernels, g, args, policy);
  if (!keeps_sums(p.cut)) return {};
  return spread(policy, {p.cut.block_count(), workers, join_block, &job});
}

}  // namespace convgrad::cpu

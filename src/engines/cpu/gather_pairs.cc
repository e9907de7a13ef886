#include "engines/cpu/gather_pairs.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engines/cpu/carve.h"
#include "engines/cpu/gather.h"
#include "engines/cpu/gather_classes.h"
#include "engines/cpu/patches.h"
#include "engines/cpu/runs.h"
#include "engines/spread.h"

namespace convgrad::cpu {
namespace {

// Terms whose panel (40 KB for 32 columns) stays near the first cache while all rows of a class use it; longer parts
// load and store the sums less often. 64 channels x 9 taps are one part.
constexpr std::int64_t kStepsInPart = 640 / kPairStep;
constexpr std::int64_t kStepsInBlock = kBlockSteps / kPairStep;

// The terms of a class: runs, cut into even blocks of at most kStepsInBlock, and those into even parts of at most
// kStepsInPart.
class PairList {
 public:
  PairList(PairRun* runs, std::int64_t* starts, std::int64_t steps)
      : runs_(runs),
        starts_(starts),
        steps_(steps),
        blocks_(ceil_div(steps, kStepsInBlock)),
        block_parts_(ceil_div(ceil_div(steps, blocks_), kStepsInPart)) {
    starts_[0] = 0;
  }

  void add(std::int64_t a, std::int64_t b, std::int64_t steps) {
    while (steps > 0) {
      const std::int64_t end = steps_ * (part_ + 1) / (blocks_ * block_parts_), taken = std::min(steps, end - added_);
      append(a, b, taken);
      a += taken * kPairStep;
      b += taken * kPairStepElements;
      steps -= taken;
      if (added_ == end) starts_[++part_] = count_;
    }
  }

  std::int64_t blocks() const { return blocks_; }
  std::int64_t block_begin(std::int64_t block) const { return block * block_parts_; }  // a part
  const PairRun* part(std::int64_t part) const { return runs_ + starts_[part]; }
  std::int64_t part_runs(std::int64_t part) const { return starts_[part + 1] - starts_[part]; }

  static std::int64_t most_parts(std::int64_t steps) {
    return ceil_div(steps, kStepsInBlock) * ceil_div(kStepsInBlock, kStepsInPart);
  }

 private:
  void append(std::int64_t a, std::int64_t b, std::int64_t steps) {
    PairRun* last = count_ > starts_[part_] ? &runs_[count_ - 1] : nullptr;
    if (last != nullptr && last->a + last->steps * kPairStep == a && last->b + last->steps * kPairStepElements == b) {
      last->steps += steps;
    } else {
      runs_[count_++] = {a, b, steps};
    }
    added_ += steps;
  }

  PairRun* runs_;
  std::int64_t* starts_;
  std::int64_t steps_, blocks_, block_parts_;
  std::int64_t count_ = 0, added_ = 0, part_ = 0;
};

std::int64_t all_steps(const GatherProgram& p) { return pair_taps(p) * filled_k(p) / kPairStep; }

// Memory of one worker.
struct Workbench {
  std::uint16_t* source;
  const std::uint16_t** lines;
  float* result;
  BlockSums<float> sums;
  PairRun* runs;
  std::int64_t* starts;

  Workbench(Carver& carve, const GatherProgram& p) {
    const std::int64_t positions = volume(p.region), parts = PairList::most_parts(all_steps(p));
    const std::int64_t groups = most(p, &Part::sources) / p.k;
    const std::int64_t copied = stages_pairs(p) ? volume(p.source_most) * groups * filled_k(p) : 0;
    source = carve.take<std::uint16_t>(p.patches ? positions * filled_k(p) + kPatchSlack : copied);
    lines = carve.take<const std::uint16_t*>(p.patches ? line_count(p) : 0);
    result = carve.take<float>(positions * result_pitch(most(p, &Part::channels)));
    const std::int64_t block = p.several_blocks ? positions * p.lanes * p.widest : 0;
    sums = {carve.take<float>(block), carve.take<float>(block), carve.take<float>(block)};
    runs = carve.take<PairRun>(pair_taps(p) + parts);
    starts = carve.take<std::int64_t>(parts + 1);
  }
};

struct Job {
  const GatherProgram& p;
  const Kernels& kernels;
  const std::uint16_t* filter;
  const std::uint16_t* source;
  void* result;
  Carver carve;
  std::uint16_t* panel;

  Job(const GatherProgram& program, const Kernels& all, const EngineArgs& args)
      : p(program),
        kernels(all),
        filter(static_cast<const std::uint16_t*>(program.backward ? args.first : args.second)),
        source(static_cast<const std::uint16_t*>(program.backward ? args.second : args.first)),
        result(args.result),
        carve(args.workspace),
        panel(carve.take<std::uint16_t>(program.panel)) {}
};

// Of one vector of result channels: all taps.
std::int64_t vector_elements(const GatherProgram& p) { return pair_taps(p) * filled_k(p) * kPairLanes; }
std::int64_t group_elements(const GatherProgram& p) {
  return round_up(p.n, kPairLanes) / kPairLanes * vector_elements(p);
}

// One tap of one group: rows are source channels, columns result channels.
void pack_tap(void* context, std::int64_t index, int) {
  const Job& job = *static_cast<Job*>(context);
  const GatherProgram& p = job.p;
  const std::int64_t tap = index % p.layer.taps, group = index / p.layer.taps;
  const TapMatrix from = tap_matrix(p, tap, group);
  std::uint16_t* to = job.panel + group * group_elements(p) + panel_tap(p, tap) * filled_k(p) * kPairLanes;
  const std::int64_t written = round_up(p.k, 2);
  job.kernels.pack.pairs({job.filter + from.first, from.k_step, from.n_step, to, vector_elements(p), p.k, p.n});
  for (std::int64_t n = 0; n < p.n; n += kPairLanes, to += vector_elements(p)) {
    std::memset(to + written * kPairLanes, 0, static_cast<std::size_t>((filled_k(p) - written) * kPairLanes) * 2);
  }
}

// One region of the result and one part of its channels.
class Unit {
 public:
  Unit(const Job& job, std::int64_t region, const Part& part, const Workbench& bench)
      : job_(job), p_(job.p), part_(part), bench_(bench), region_(p_.region_box(region)) {}

  void run() {
    result_ = staged_field(bench_.result, region_, result_pitch(part_.channels));
    if (p_.patches) {
      add_patches();
    } else {
      bring_source();
      each_class(p_, region_,
                 [&](const Class& c) { has_taps(c) ? add_class(c) : clear_class(result_, c, part_.channels); });
    }
    stage_out(job_.kernels.copy, result_, {p_.result, region_, part_.channel, part_.channels}, job_.result);
    p_.pairs->leave(tiles_);
  }

 private:
  // All positions of the region are one row of one class with one tap.
  void add_patches() {
    bring_patches(p_, region_, {job_.source, bench_.lines, bench_.source});
    const std::int64_t count = region_.positions();
    Class row{};
    for (Stretch& stretch : row) stretch = {0, 1, 1, 0, 1, 1, 0, 1, 1};
    row[3].count = count;
    source_ = {bench_.source, 0, {0, 0, 0, filled_k(p_)}};
    const Field<float> result = std::exchange(result_, {bench_.result, 0, {0, 0, 0, result_pitch(part_.channels)}});
    add_class(row);
    result_ = result;
  }

  void bring_source() {
    if (!stages_pairs(p_)) {
      source_ = direct_field<std::uint16_t>(job_.source, p_.source, part_.source);
      return;
    }
    const Box box = source_box(p_, region_);
    const std::int64_t groups = part_.sources / p_.k;
    source_ = staged_field(bench_.source, box, groups * filled_k(p_));
    for (std::int64_t g = 0; g < groups; ++g) stage_group(box, g);
  }

  // Channels of group number g of the part, then zeros.
  void stage_group(const Box& box, std::int64_t g) {
    const Transfer transfer{p_.source, box, part_.source + g * p_.k, p_.k};
    const auto zeros = static_cast<std::size_t>(filled_k(p_) - p_.k) * 2;
    for_each_row(box, [&](const Position& at) {
      std::uint16_t* to = source_.base + source_.offset(at) + g * filled_k(p_);
      job_.kernels.pack.rows({job_.source + element(transfer, at), p_.source.step[3], p_.source.channel_step, to,
                              source_.step[3], box.extent(3), p_.k});
      for (std::int64_t i = 0; i < box.extent(3); ++i) std::memset(to + i * source_.step[3] + p_.k, 0, zeros);
    });
  }

  // The taps of a class as runs, relative to a position's source.
  PairList list_of(const Class& c) const {
    const std::int64_t taps = c[0].taps * c[1].taps * c[2].taps * c[3].taps, steps = filled_k(p_) / kPairStep;
    PairList list(bench_.runs, bench_.starts, taps * steps);
    if (p_.patches) {
      list.add(0, 0, steps);
      return list;
    }
    each_tap(c, [&](const Position& j) {
      list.add(tap_source(source_, c, j), panel_tap(p_, tap_number(p_, c, j)) * filled_k(p_) * kPairLanes, steps);
    });
    return list;
  }

  // A block of lanes of a class: the kernel's arguments but for the runs, and the class's rows.
  struct Rows {
    const Class& c;
    std::size_t axis;
    PairArgs args;
  };

  void add_class(const Class& c) {
    const PairList list = list_of(c);
    for (std::int64_t item = part_.first_item; item < part_.end_item; ++item) {
      const Rows rows{c, longest(c), args_of(c, longest(c), item)};
      list.blocks() == 1 ? add_to_result(rows, list) : add_in_blocks(rows, list);
    }
  }

  PairArgs args_of(const Class& c, std::size_t axis, std::int64_t item) {
    const LaneBlocks blocks = lane_blocks(p_);
    const std::int64_t group = item / blocks.count, block = item % blocks.count, lane = blocks.begin(block);
    const std::int64_t pixel = stages_pairs(p_) ? filled_k(p_) : p_.k;  // a group's share of one
    PairArgs args{};
    args.a = source_.base + (group - part_.source / p_.k) * pixel;
    args.a_row = c[axis].source_step * source_.step[axis];
    args.b = job_.panel + group * group_elements(p_) + lane / kPairLanes * vector_elements(p_);
    args.b_vector = vector_elements(p_);
    args.c = result_.base + group * p_.n + lane - part_.channel;
    args.c_row = c[axis].step * result_.step[axis];
    args.rows = c[axis].count;
    args.lanes = blocks.width(block);
    args.tiles = &tiles_;
    return args;
  }

  // Parts [begin, end) of the list; place(m, row) is where a row of the class has its sums.
  template <class Place>
  void add_parts(const Rows& rows, const PairList& list, std::int64_t begin, std::int64_t end, const Place& place) {
    for (std::int64_t part = begin; part < end; ++part) {
      PairArgs args = rows.args;
      args.runs = list.part(part);
      args.run_count = list.part_runs(part);
      args.first = part == begin;
      each_row(rows.c, rows.axis, [&](const Position& m, std::int64_t row) {
        args.a = rows.args.a + source_at(source_, rows.c, m);
        args.c = place(m, row);
        p_.pairs->multiply(args);
      });
    }
  }

  void add_to_result(const Rows& rows, const PairList& list) {
    add_parts(rows, list, 0, list.block_begin(1),
              [&](const Position& m, std::int64_t) { return rows.args.c + result_at(result_, rows.c, m); });
  }

  void add_in_blocks(Rows rows, const PairList& list) {
    const SumTable<float>& table = job_.kernels.f32.sums;
    float* to = rows.args.c;
    const std::int64_t pitch = round_up(rows.args.lanes, kPairLanes), elements = positions(rows.c) * pitch;
    rows.args.c_row = pitch;
    bench_.sums.clear(elements);
    for (std::int64_t block = 0; block < list.blocks(); ++block) {
      add_parts(rows, list, list.block_begin(block), list.block_begin(block + 1),
                [&](const Position&, std::int64_t row) { return bench_.sums.c + row * rows.args.rows * pitch; });
      bench_.sums.fold(table, elements);
    }
    bench_.sums.settle(table, elements);
    write_class(result_, rows.c, rows.axis, {bench_.sums.hi, pitch, rows.args.lanes}, to);
  }

  const Job& job_;
  const GatherProgram& p_;
  const Part part_;
  const Workbench& bench_;
  const Box region_;
  Field<std::uint16_t> source_;
  Field<float> result_;
  TileShape tiles_;
};

void run_unit(void* context, std::int64_t index, int worker) {
  const Job& job = *static_cast<Job*>(context);
  const Workbench bench = workbench_of<Workbench>(job.carve, job.p, worker);
  Unit(job, index / job.p.parts, part_of(job.p, index % job.p.parts), bench).run();
}

}  // namespace

std::int64_t pairs_workspace_bytes(const GatherProgram& p) {
  Carver carve(nullptr);
  carve.take<std::uint16_t>(p.panel);
  for (std::int64_t w = 0; w < p.workers; ++w) Workbench(carve, p);
  return p.exact == nullptr ? carve.used() : std::max(carve.used(), workspace_bytes(*p.exact, DType::bf16));
}

Status run_gather_pairs(const GatherProgram& p, const Kernels& kernels, const Geometry& g, const EngineArgs& args,
                        const Course& course) {
  Job job(p, kernels, args);
  if (p.exact != nullptr && kernels.pack.has_special(job.filter, p.layer.taps * p.k * p.n))
    return run_gather(*p.exact, kernels, g, args, course);
  const auto workers = static_cast<int>(p.workers);
  if (p.patches) {
    pack_patch_filter(p, job.filter, job.panel, vector_elements(p));
  } else {
    CONVGRAD_RETURN_IF_ERROR(spread(course.policy, {p.layer.taps * p.layer.groups, workers, pack_tap, &job}));
  }
  return run_units(course, {p.region_count() * p.parts, workers, run_unit, &job});
}

}  // namespace convgrad::cpu

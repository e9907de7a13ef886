#include "engines/cpu/filter_grad.h"

#include <algorithm>
#include <cstring>

#include "base/machine.h"
#include "engines/cpu/carve.h"
#include "engines/cpu/runs.h"
#include "engines/cpu/sweep.h"
#include "engines/spread.h"

namespace convgrad::cpu {
namespace {

// None of these may depend on the machine: they decide the order of the sums.
constexpr std::int64_t kBlockElements = 128 * 1024;  // of dw in one unit
constexpr std::int64_t kRegionElements = 48 * 1024;  // of x or dy in one region
constexpr std::int64_t kMostRegion = 512, kLeastRegion = 64;
constexpr std::int64_t kShortStretch = 8;
constexpr std::int64_t kStrip = 96;  // positions whose dy lanes stay in the first cache for all rows of dw
constexpr std::int64_t kUnits = 16;  // wanted, for the threads to share
constexpr std::int64_t kSliceBytes = std::int64_t{4} << 20;  // for the partial sums of all slices
constexpr double kUnitTerms = 2e6;                           // multiply-adds that are worth a slice
// A kernel strides over whole pixels. Wider ones fall on few sets of the first cache and are staged, at a
// distance that does not.
constexpr std::int64_t kDirectPitchBytes = 256;
constexpr std::int64_t kManyLanes = 48;  // three vectors of f32
constexpr std::int64_t kAlign = 16;      // lanes of dy and dw rows start on a cache line in f32

std::int64_t last_axis_taps(const Layer& layer) { return layer.axes[3].taps; }

Position steps_of(const Layer& layer, bool in) {
  Position step{};
  for (std::size_t a = 0; a < kAxes; ++a) step[a] = in ? layer.axes[a].in_step : layer.axes[a].out_step;
  return step;
}

// Sums over all positions, with x = 1: axes without taps, so that they merge into one row.
Layer ones_layer(const Geometry& g) {
  Geometry plain = g;
  plain.in = g.out;
  plain.filter = plain.stride = plain.dilation = {1, 1, 1};
  plain.pad_before = plain.pad_after = {};
  plain.c_in = plain.groups = 1;
  return layer_of(plain);
}

// Whether the taps of the last axis and the input channels can be one index: neighbours in memory.
bool taps_join(const Layer& l) {
  const Axis& row = l.axes[3];
  return l.groups == 1 && row.taps > 1 && row.dilation == 1 && l.c_in < kManyLanes &&
         (l.in_channel_step != 1 || row.in_step == l.c_in);
}

FilterForm form_of(const Geometry& g, const Layer& layer) {
  if (g.direction == Direction::bias_grad) return FilterForm::ones;
  if (layer.groups > 1 && (layer.c_in == 1 || (layer.c_in <= 16 && layer.c_out < 16))) return FilterForm::lanewise;
  // A tile of three or four vectors does twice the work a load of a tile of one: lanes go where there are more.
  const bool few_out = layer.c_out < kManyLanes;
  if (few_out && layer.c_in >= std::max(kManyLanes, 2 * layer.c_out)) return FilterForm::swapped;
  if (few_out && taps_join(layer) && layer.axes[3].taps * layer.c_in >= std::max(kManyLanes, 2 * layer.c_out))
    return FilterForm::swapped;
  if (layer.c_out < 16 && layer.c_in >= 2 * layer.c_out) return FilterForm::swapped;
  return FilterForm::dense;
}

bool reads_in_place(const Image& image, bool wants_pitch) {
  const std::int64_t bytes = image.step[3] * static_cast<std::int64_t>(size_of(image.dtype));
  return direct(image) && (wants_pitch || bytes <= kDirectPitchBytes);
}

// Taps of the last axis that lie beside each other in the lanes.
std::int64_t lane_taps(const FilterProgram& p) {
  return p.form == FilterForm::swapped && p.merged ? last_axis_taps(p.layer) : 1;
}

// Halves the wider side until a block fits; then fewer rows of taps.
void choose_blocks(FilterProgram& p) {
  const Layer& l = p.layer;
  const std::int64_t tap_rows = l.taps / last_axis_taps(l);
  p.tap_rows_each = tap_rows;
  p.ci_each = l.c_in;
  p.co_each = p.form == FilterForm::lanewise
                  ? std::min<std::int64_t>(l.all_out(), 64 * std::max<std::int64_t>(1, 4 / l.c_in))
                  : l.c_out;
  const auto elements = [&] { return p.tap_rows_each * last_axis_taps(l) * p.ci_each * round_up(p.co_each, kAlign); };
  while (elements() > kBlockElements) {
    std::int64_t& wider = p.ci_each > p.co_each && !p.merged ? p.ci_each : p.co_each;
    if (wider > 64 && p.form != FilterForm::lanewise) {
      wider = round_up(ceil_div(wider, 2), kAlign);
    } else if (p.tap_rows_each > 1) {
      p.tap_rows_each = ceil_div(p.tap_rows_each, 2);
    } else {
      break;
    }
  }
  const std::int64_t co = p.form == FilterForm::lanewise ? l.all_out() : l.c_out;
  p.blocks = {p.form == FilterForm::lanewise ? 1 : l.groups, ceil_div(tap_rows, p.tap_rows_each),
              ceil_div(l.c_in, p.ci_each), ceil_div(co, p.co_each)};
  p.pitch = round_up(p.form == FilterForm::swapped ? lane_taps(p) * p.ci_each : p.co_each, kAlign);
}

Position outputs_of(const Layer& l) { return {l.axes[0].out, l.axes[1].out, l.axes[2].out, l.axes[3].out}; }

void choose_regions(FilterProgram& p) {
  const std::int64_t planes = p.form == FilterForm::lanewise ? p.layer.c_in : 1;
  const std::int64_t channels =
      std::max<std::int64_t>(p.form == FilterForm::lanewise ? 1 : p.ci_each, p.co_each * planes);
  const Position all = outputs_of(p.layer);
  p.region = part_of_at_most(all, std::clamp(kRegionElements / channels, kLeastRegion, kMostRegion));
  p.strip = part_of_at_most(p.region, kStrip);
  for (std::size_t a = 0; a < kAxes; ++a) p.regions[a] = ceil_div(all[a], p.region[a]);
}

void choose_slices(FilterProgram& p, const Geometry& g) {
  const auto bytes = static_cast<std::int64_t>(g.dtype == DType::f64 ? 8 : 4);
  const std::int64_t all = 2 * bytes * p.block_count() * p.block_rows() * p.pitch;
  const auto worth = static_cast<std::int64_t>(std::min(1e6, nominal_flops(g) / 2 / kUnitTerms));
  p.slices =
      std::max<std::int64_t>(1, std::min({ceil_div(kUnits, p.block_count()),
                                          kSliceBytes / std::max<std::int64_t>(1, all), worth, p.region_count()}));
}

std::int64_t worker_count(const FilterProgram& p, const Policy& policy) {
  const std::int64_t units = p.block_count() * p.slices;
  if (units == 1) return 1;
  return std::min<std::int64_t>(units, policy.threads > 0 ? policy.threads : usable_cores());
}

// Inputs that a range of outputs reads on an axis.
void input_range(const Axis& axis, std::int64_t begin, std::int64_t end, std::int64_t& in_begin, std::int64_t& in_end) {
  in_begin = std::clamp<std::int64_t>(begin * axis.stride - axis.pad, 0, axis.in);
  in_end = std::clamp<std::int64_t>((end - 1) * axis.stride - axis.pad + (axis.taps - 1) * axis.dilation + 1, in_begin,
                                    axis.in);
}

Box input_box(const Layer& layer, const Box& region) {
  Box box;
  for (std::size_t a = 0; a < kAxes; ++a)
    input_range(layer.axes[a], region.begin[a], region.end[a], box.begin[a], box.end[a]);
  return box;
}

// The most positions an input box can have.
std::int64_t largest_input_box(const FilterProgram& p) {
  std::int64_t count = 1;
  for (std::size_t a = 0; a < kAxes; ++a) {
    const Axis& axis = p.layer.axes[a];
    count *= std::min(axis.in, (p.region[a] - 1) * axis.stride + (axis.taps - 1) * axis.dilation + 1);
  }
  return count;
}

std::int64_t largest_region(const FilterProgram& p) { return p.region[0] * p.region[1] * p.region[2] * p.region[3]; }

bool spreads_channels(const FilterProgram& p) {
  return p.form == FilterForm::lanewise && (p.layer.c_in > 1 || p.layer.c_out > 1);
}

bool stages_x(const FilterProgram& p) {
  return p.form != FilterForm::ones && !reads_in_place(p.x, p.merged || p.form == FilterForm::lanewise);
}
bool stages_dy(const FilterProgram& p) { return !reads_in_place(p.dy, p.form == FilterForm::lanewise); }

// From one staged position to the next, in elements: an odd number of cache lines where there are several.
std::int64_t staged_pitch(std::int64_t channels) {
  const std::int64_t rounded = round_up(channels, kAlign);
  return rounded >= 8 * kAlign && rounded / kAlign % 2 == 0 ? rounded + kAlign : rounded;
}
std::int64_t x_pitch(const FilterProgram& p, std::int64_t channels) {
  return p.merged ? channels : staged_pitch(channels);
}

// Input channels of a block.
struct Channels {
  std::int64_t first, count;
};
Channels input_channels(const FilterProgram& p, const FilterBlock& b) {
  const Layer& l = p.layer;
  if (p.form != FilterForm::lanewise) return {b.group * l.c_in + b.ci, b.ci_count};
  const std::int64_t first = b.co / l.c_out, last = (b.co + b.co_count - 1) / l.c_out;
  return {first * l.c_in, (last - first + 1) * l.c_in};
}
std::int64_t most_input_channels(const FilterProgram& p) {
  const Layer& l = p.layer;
  return p.form == FilterForm::lanewise ? std::min(l.groups, p.co_each / l.c_out + 2) * l.c_in : p.ci_each;
}

// Memory of one worker.
template <class T>
struct Workbench {
  T *c, *hi, *lo, *x, *spread_x, *dy;
  std::int32_t* index;
  Run* runs;

  Workbench(Carver& carve, const FilterProgram& p) {
    const std::int64_t block = p.block_rows() * p.pitch, box = largest_input_box(p), region = largest_region(p);
    c = carve.take<T>(block);
    hi = carve.take<T>(p.slices == 1 ? block : 0);
    lo = carve.take<T>(p.slices == 1 ? block : 0);
    x = carve.take<T>(stages_x(p) ? box * x_pitch(p, most_input_channels(p)) : 0);
    spread_x = carve.take<T>(spreads_channels(p) ? p.layer.c_in * box * round_up(p.co_each, kAlign) : 0);
    dy = carve.take<T>(stages_dy(p) ? region * staged_pitch(p.co_each) : 0);
    index = carve.take<std::int32_t>(spreads_channels(p) ? p.layer.c_in * p.co_each : 0);
    runs = carve.take<Run>(RunList::most(region, region));
  }
};

// The partial sums of all slices, where there are several.
template <class T>
struct SliceSums {
  T *hi, *lo;
  std::int64_t block;  // elements of one

  SliceSums(Carver& carve, const FilterProgram& p) : block(p.block_rows() * p.pitch) {
    const std::int64_t count = p.slices > 1 ? p.slices * p.block_count() * block : 0;
    hi = carve.take<T>(count);
    lo = carve.take<T>(count);
  }
};

template <class T>
struct Job {
  const FilterProgram& p;
  const Kernels& kernels;
  const KernelSet<T>& set;
  const EngineArgs& args;
  DType dtype;
  Carver carve;
  SliceSums<T> slices;

  Job(const FilterProgram& program, const Kernels& all, const EngineArgs& engine_args, DType type)
      : p(program),
        kernels(all),
        set(all.of<T>()),
        args(engine_args),
        dtype(type),
        carve(engine_args.workspace),
        slices(carve, program) {}

  Workbench<T> workbench(int worker) const {
    Carver own = carve;
    for (int w = 0; w < worker; ++w) Workbench<T>(own, p);
    return Workbench<T>(own, p);
  }
};

// One block of dw over one slice of the positions.
template <class T>
class Unit {
 public:
  Unit(const Job<T>& job, const FilterBlock& block, const Workbench<T>& bench)
      : job_(job), p_(job.p), layer_(job.p.layer), block_(block), bench_(bench) {}

  // hi + lo = the sum over the regions.
  void add_up(std::int64_t first_region, std::int64_t end_region, T* hi, T* lo) {
    const std::int64_t elements = p_.block_rows() * p_.pitch;
    hi_ = hi;
    lo_ = lo;
    clear(hi, elements);
    clear(lo, elements);
    clear(bench_.c, elements);
    if (spreads_channels(p_)) fill_index();
    std::int64_t steps = 0;
    for (std::int64_t r = first_region; r < end_region; ++r) {
      const Box region = p_.region_box(r);
      if (steps > 0 && steps + region.positions() > kBlockSteps) {
        fold();
        clear(bench_.c, elements);
        steps = 0;
      }
      bring(region);
      for_each_part(region, p_.strip, [this](const Box& strip) { add_box(strip, false); });
      if (p_.merged || p_.form == FilterForm::lanewise) add_box(region, true);
      steps += region.positions();
    }
    fold();
  }

 private:
  static void clear(T* memory, std::int64_t count) {
    std::memset(static_cast<void*>(memory), 0, static_cast<std::size_t>(count) * sizeof(T));
  }

  void fold() const { job_.set.sums.fold({hi_, lo_, bench_.c, nullptr, nullptr, p_.block_rows() * p_.pitch}); }

  void fill_index() const {
    const std::int64_t base = input_channels(p_, block_).first;
    for (std::int64_t e = 0; e < layer_.c_in; ++e) {
      for (std::int64_t c = 0; c < block_.co_count; ++c) {
        bench_.index[e * p_.co_each + c] =
            static_cast<std::int32_t>((block_.co + c) / layer_.c_out * layer_.c_in + e - base);
      }
    }
  }

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
      x_ = staged_field(bench_.x, box, x_pitch(p_, channels.count));
      stage_in(job_.kernels.copy, job_.args.first, {p_.x, box, channels.first, channels.count}, x_);
    } else {
      x_ = direct_field<T>(job_.args.first, p_.x, channels.first);
    }
    if (spreads_channels(p_)) spread_channels(box);
  }

  void bring_dy(const Box& region) {
    const void* dy = p_.form == FilterForm::ones ? job_.args.first : job_.args.second;
    const std::int64_t channel = p_.form == FilterForm::lanewise ? block_.co : block_.group * layer_.c_out + block_.co;
    if (stages_dy(p_)) {
      dy_ = staged_field(bench_.dy, region, staged_pitch(block_.co_count));
      stage_in(job_.kernels.copy, dy, {p_.dy, region, channel, block_.co_count}, dy_);
    } else {
      dy_ = direct_field<T>(dy, p_.dy, channel);
    }
  }

  // x becomes c_in planes with the lanes of dy.
  void spread_channels(const Box& box) {
    const std::int64_t pitch = round_up(block_.co_count, kAlign);
    const Field<T> wide = staged_field(bench_.spread_x, box, pitch);
    plane_ = box.positions() * pitch;
    for (std::int64_t e = 0; e < layer_.c_in; ++e) {
      detail::for_each_row(box, [&](const Position& at) {
        job_.set.expand({x_.base + x_.offset(at), x_.step[3], wide.base + wide.offset(at) + e * plane_, wide.step[3],
                         box.extent(3), block_.co_count, bench_.index + e * p_.co_each,
                         layer_.c_in == layer_.c_out && block_.co % layer_.c_out == 0 ? layer_.c_out : 0});
      });
    }
    x_ = wide;
  }

  // Short stretches (the edges of a row) wait for the whole region: in a strip they have too few terms.
  void add_box(const Box& box, bool edges) {
    for (std::int64_t row = block_.tap_row; row < block_.tap_row + block_.tap_rows; ++row) {
      const Box valid = valid_outputs(box, row);
      if (valid.positions() == 0) continue;
      if (p_.merged || p_.form == FilterForm::lanewise) {
        for (const Stretch& whole : p_.row_stretches) {
          const Stretch part = clipped(whole, box.begin[3], box.end[3]);
          if (part.taps > 0 && part.count > 0 && (whole.count < kShortStretch) == edges) add_stretch(valid, row, part);
        }
      } else {
        for (std::int64_t tap = 0; tap < layer_.axes[3].taps; ++tap) add_tap(valid, row, tap);
      }
    }
  }

  // Taps of the axes before the last, from their common number.
  Position taps_of(std::int64_t row) const {
    Position taps{};
    for (std::size_t a = 3; a-- > 0;) {
      taps[a] = row % layer_.axes[a].taps;
      row /= layer_.axes[a].taps;
    }
    return taps;
  }

  // Outputs of a box whose inputs exist for the taps of the axes before the last.
  Box valid_outputs(const Box& box, std::int64_t row) const {
    const Position taps = taps_of(row);
    Box valid = box;
    for (std::size_t a = 0; a < 3; ++a) clip(valid, a, taps[a]);
    return valid;
  }

  void clip(Box& box, std::size_t a, std::int64_t tap) const {
    const Axis& axis = layer_.axes[a];
    const std::int64_t shift = axis.pad - tap * axis.dilation;
    box.begin[a] = std::max(box.begin[a], ceil_div(shift, axis.stride));
    box.end[a] = std::max(box.begin[a], std::min(box.end[a], ceil_div(axis.in + shift, axis.stride)));
  }

  // The input position that output `o` reads.
  Position source(const Position& o, std::int64_t row, std::int64_t tap) const {
    Position taps = taps_of(row);
    taps[3] = tap;
    Position i;
    for (std::size_t a = 0; a < kAxes; ++a)
      i[a] = o[a] * layer_.axes[a].stride - layer_.axes[a].pad + taps[a] * layer_.axes[a].dilation;
    return i;
  }

  RunSteps steps() const {
    const std::int64_t x = p_.form == FilterForm::ones ? 0 : layer_.axes[3].stride * x_.step[3];
    return p_.form == FilterForm::swapped ? RunSteps{dy_.step[3], x} : RunSteps{x, dy_.step[3]};
  }

  // Every row of `outputs`, from its first position.
  RunList runs_over(const Box& outputs, std::int64_t row, std::int64_t tap) const {
    RunList list(bench_.runs, steps());
    detail::for_each_row(outputs, [&](const Position& o) {
      const std::int64_t x = p_.form == FilterForm::ones ? 0 : x_.offset(source(o, row, tap)), dy = dy_.offset(o);
      const bool swapped = p_.form == FilterForm::swapped;
      list.add(swapped ? dy : x, swapped ? x : dy, outputs.extent(3));
    });
    list.close();
    return list;
  }

  // One tap: rows are the channels of one side.
  void add_tap(Box outputs, std::int64_t row, std::int64_t tap) const {
    clip(outputs, 3, tap);
    if (outputs.positions() == 0) return;
    const RunList list = runs_over(outputs, row, tap);
    const bool swapped = p_.form == FilterForm::swapped;
    const std::int64_t rows = swapped ? block_.co_count : block_.ci_count;
    const std::int64_t first =
        ((row - block_.tap_row) * layer_.axes[3].taps + tap) * (swapped ? p_.co_each : p_.ci_each);
    add_rows(list, {.first = first, .rows = rows, .lanes = swapped ? block_.ci_count : block_.co_count, .a_row = 1});
  }

  // All taps that a stretch of the last axis shares, as rows of one matrix.
  void add_stretch(Box outputs, std::int64_t row, const Stretch& part) const {
    outputs.begin[3] = part.first;
    outputs.end[3] = part.first + part.count;
    RunList list = runs_over(outputs, row, part.tap);
    const std::int64_t tap = (row - block_.tap_row) * layer_.axes[3].taps + part.tap;
    if (p_.form == FilterForm::swapped) {
      add_rows(list, {.first = (row - block_.tap_row) * p_.co_each,
                      .rows = block_.co_count,
                      .lanes = part.taps * layer_.c_in,
                      .a_row = 1,
                      .first_lane = part.tap * layer_.c_in});
      return;
    }
    if (p_.merged) {
      add_rows(list,
               {.first = tap * layer_.c_in, .rows = part.taps * layer_.c_in, .lanes = block_.co_count, .a_row = 1});
      return;
    }
    for (std::int64_t e = 0; e < layer_.c_in; ++e) {
      add_rows(list, {.first = tap * layer_.c_in + e,
                      .rows = part.taps,
                      .lanes = block_.co_count,
                      .a_row = layer_.axes[3].dilation * x_.step[3],
                      .a_offset = e * plane_,
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
    const TileShapes<T>& shapes = lanewise ? job_.set.tile.lanewise : job_.set.tile.across;
    const Field<T>&a = swapped ? dy_ : x_, &b = swapped ? x_ : dy_;
    const LaneBlocks lanes(r.lanes, job_.set.tile.lanes, widest(job_.set.tile));
    for (std::int64_t block = 0; block < lanes.count; ++block) {
      const std::int64_t lane = lanes.begin(block);
      TileArgs<T> args{};
      args.a = a.base + r.a_offset + (lanewise ? lane : 0);
      args.a_row = r.a_row;
      args.a_step = steps().a;
      args.b = b.base + lane;
      args.b_step = steps().b;
      args.b_unit = 1;
      args.runs = list.begin();
      args.run_count = list.count();
      args.c = bench_.c + r.first * p_.pitch + r.first_lane + lane;
      args.c_row = r.row_step * p_.pitch;
      args.lanes = lanes.width(block);
      sweep_rows(shapes, args, lanes.padded(block) / lanes.vector, r.rows);
    }
  }

  const Job<T>& job_;
  const FilterProgram& p_;
  const Layer& layer_;
  const FilterBlock block_;
  const Workbench<T>& bench_;
  Field<T> x_, dy_;
  T *hi_ = nullptr, *lo_ = nullptr;
  std::int64_t plane_ = 0;  // from one plane of the spread x to the next
  T one_ = T(1);
};

// hi + lo of a block, rounded once, to its place in dw.
template <class T>
void write_block(const Job<T>& job, const FilterBlock& b, T* hi, T* lo) {
  const FilterProgram& p = job.p;
  const Layer& l = p.layer;
  job.set.sums.settle({hi, lo, nullptr, nullptr, hi, p.block_rows() * p.pitch});
  const bool swapped = p.form == FilterForm::swapped;
  const auto bytes = static_cast<std::int64_t>(size_of(job.dtype));
  const std::int64_t taps = b.tap_rows * last_axis_taps(l), first_tap = b.tap_row * last_axis_taps(l);
  const std::int64_t channel = p.form == FilterForm::lanewise ? b.co : b.group * l.c_out + b.co;
  for (std::int64_t tap = 0; tap < taps; ++tap) {
    const std::int64_t at = ((first_tap + tap) * l.c_in + b.ci) * l.all_out() + channel;
    const std::int64_t beside = tap % lane_taps(p);
    const T* from = hi + tap / lane_taps(p) * (swapped ? p.co_each : p.ci_each) * p.pitch + beside * l.c_in;
    job.kernels.copy.out[static_cast<int>(job.dtype)]({from, swapped ? 1 : p.pitch, swapped ? p.pitch : 1,
                                                       static_cast<char*>(job.args.result) + at * bytes, l.all_out(), 1,
                                                       b.ci_count, b.co_count});
  }
}

template <class T>
void run_unit(void* context, std::int64_t index, int worker) {
  const Job<T>& job = *static_cast<Job<T>*>(context);
  const FilterProgram& p = job.p;
  const Workbench<T> bench = job.workbench(worker);
  const std::int64_t block = index / p.slices, slice = index % p.slices;
  const FilterBlock b = p.block(block);
  const std::int64_t place = index * job.slices.block;
  T* hi = p.slices == 1 ? bench.hi : job.slices.hi + place;
  T* lo = p.slices == 1 ? bench.lo : job.slices.lo + place;
  Unit<T>(job, b, bench).add_up(p.region_count() * slice / p.slices, p.region_count() * (slice + 1) / p.slices, hi, lo);
  if (p.slices == 1) write_block(job, b, hi, lo);
}

// Slices in order, into the first.
template <class T>
void join_slices(void* context, std::int64_t block, int) {
  const Job<T>& job = *static_cast<Job<T>*>(context);
  const SliceSums<T>& s = job.slices;
  T *hi = s.hi + block * job.p.slices * s.block, *lo = s.lo + block * job.p.slices * s.block;
  for (std::int64_t slice = 1; slice < job.p.slices; ++slice)
    job.set.sums.fold({hi, lo, hi + slice * s.block, lo + slice * s.block, nullptr, s.block});
  write_block(job, job.p.block(block), hi, lo);
}

template <class T>
Status run_typed(const FilterProgram& p, const Kernels& kernels, const EngineArgs& args, DType dtype,
                 const Policy& policy) {
  Job<T> job(p, kernels, args, dtype);
  const auto workers = static_cast<int>(p.workers);
  CONVGRAD_RETURN_IF_ERROR(spread(policy, {p.block_count() * p.slices, workers, run_unit<T>, &job}));
  if (p.slices == 1) return {};
  return spread(policy, {p.block_count(), workers, join_slices<T>, &job});
}

}  // namespace

std::int64_t FilterProgram::block_rows() const {
  return tap_rows_each * last_axis_taps(layer) / lane_taps(*this) * (form == FilterForm::swapped ? co_each : ci_each);
}

FilterBlock FilterProgram::block(std::int64_t index) const {
  const auto take = [&index](std::int64_t count) {
    const std::int64_t digit = index % count;
    index /= count;
    return digit;
  };
  FilterBlock b{};
  const std::int64_t all_co = form == FilterForm::lanewise ? layer.all_out() : layer.c_out;
  b.co = take(blocks[3]) * co_each;
  b.ci = take(blocks[2]) * ci_each;
  b.tap_row = take(blocks[1]) * tap_rows_each;
  b.group = index;
  b.co_count = std::min(co_each, all_co - b.co);
  b.ci_count = std::min(ci_each, layer.c_in - b.ci);
  b.tap_rows = std::min(tap_rows_each, layer.taps / last_axis_taps(layer) - b.tap_row);
  return b;
}

Box FilterProgram::region_box(std::int64_t index) const { return part_number(index, {{}, outputs_of(layer)}, region); }

FilterProgram filter_program(const Geometry& g, const Policy& policy) {
  FilterProgram p;
  p.layer = g.direction == Direction::bias_grad ? ones_layer(g) : layer_of(g);
  const Layer& l = p.layer;
  p.form = form_of(g, l);
  p.x = {g.dtype, steps_of(l, true), l.in_channel_step, l.in_origin};
  p.dy = {g.dtype, steps_of(l, false), l.out_channel_step, 0};
  const Axis& row = l.axes[3];
  const bool narrow = l.c_in <= (p.form == FilterForm::swapped ? kManyLanes - 1 : 16);
  p.merged = (p.form == FilterForm::dense || p.form == FilterForm::swapped) && taps_join(l) && narrow;
  p.row_stretches = forward_stretches(row);
  choose_blocks(p);
  choose_regions(p);
  choose_slices(p, g);
  p.workers = worker_count(p, policy);
  return p;
}

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
                  const Policy& policy) {
  return visit(g.dtype, [&]<class S>(S) {
    return run_typed<typename DTypeOf<S>::Accumulator>(p, kernels, args, g.dtype, policy);
  });
}

}  // namespace convgrad::cpu

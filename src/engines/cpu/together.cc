#include "engines/cpu/together.h"

#include <algorithm>
#include <array>
#include <atomic>

namespace convgrad::cpu {
namespace {

// More than any filter gradient with several slices has: those make 16 units of fewer than 16 blocks.
constexpr std::int64_t kMostUnits = 32;
// Of dy between two turns of the other gradients: half a second cache. Each turn costs the filter gradient its sums and
// the input gradient its panel, so shorter ones were no clear gain.
constexpr std::int64_t kTurnBytes = 512 * 1024;
// Multiply-adds an element of dy in the filter gradient. 9 (depthwise) and 32 (1x1) gain a tenth, 64 a fiftieth, 576
// (3x3 of 64 channels) nothing: there memory waits for arithmetic.
constexpr std::int64_t kFewTerms = 128;

// Turns in which a slice is walked.
std::int64_t turns_of(const FilterProgram& p) {
  const auto pixel = p.layer.all_out() * static_cast<std::int64_t>(size_of(p.dy.dtype));
  return std::max<std::int64_t>(1, p.region_count() * volume(p.region) * pixel / p.slices / kTurnBytes);
}

// Units of another program, dealt out evenly to the units of the filter gradient, which lie in the same order along
// dy. Whoever takes one runs it.
class Share {
 public:
  Share(const WorkerUnits& units, std::int64_t owners) : units_(units), owners_(owners) {
    for (std::int64_t owner = 0; owner < owners; ++owner) next(owner).store(begin(owner), std::memory_order_relaxed);
  }

  // Runs what is left of the owner's first done/of units.
  void run(std::int64_t owner, std::int64_t done, std::int64_t of, int worker) {
    const std::int64_t first = begin(owner), end = first + (begin(owner + 1) - first) * done / of;
    while (next(owner).load(std::memory_order_relaxed) < end) {
      const std::int64_t index = next(owner).fetch_add(1, std::memory_order_relaxed);
      if (index >= begin(owner + 1)) return;
      units_.unit(units_.context, index, worker);
    }
  }

 private:
  std::int64_t begin(std::int64_t owner) const { return units_.count * owner / owners_; }
  std::atomic<std::int64_t>& next(std::int64_t owner) { return next_[static_cast<std::size_t>(owner)]; }

  const WorkerUnits units_;
  const std::int64_t owners_;
  std::array<std::atomic<std::int64_t>, kMostUnits> next_{};
};

// The filter gradient's units slice by slice, those of the others between their regions.
class Joint {
 public:
  Joint(const FilterProgram& filter, const Policy& policy, const WorkerUnits& input, const WorkerUnits& bias)
      : filter_(filter),
        policy_(policy),
        turns_(turns_of(filter)),
        input_(input, filter.unit_count()),
        bias_(bias, filter.unit_count()) {}

  Course course() {
    Course course(policy_);
    course.run = [](void* joint, const WorkerUnits& units) { return static_cast<Joint*>(joint)->run(units); };
    course.added = [](void* joint, const Added& added) { static_cast<Joint*>(joint)->follow(added); };
    course.context = this;
    return course;
  }

 private:
  // After the filter gradient's units one more for each worker, so that nobody is idle while others have shares left.
  Status run(const WorkerUnits& units) {
    main_ = &units;
    const auto unit = [](void* joint, std::int64_t index, int worker) {
      static_cast<Joint*>(joint)->run_unit(index, worker);
    };
    return spread(policy_, {units.count + units.workers, units.workers, unit, this});
  }

  void run_unit(std::int64_t index, int worker) {
    const std::int64_t blocks = filter_.block_count();
    if (index < main_->count)
      return main_->unit(main_->context, index % blocks * filter_.slices + index / blocks, worker);
    for (std::int64_t owner = main_->count; owner-- > 0;) run_shares(owner, 1, 1, worker);
  }

  // All blocks of a slice walk its regions; each owns the share of a stretch of them.
  void follow(const Added& added) {
    const std::int64_t blocks = filter_.block_count();
    const std::int64_t block = added.unit / filter_.slices, slice = added.unit % filter_.slices;
    const std::int64_t own = std::clamp<std::int64_t>(added.done * blocks - block * added.regions, 0, added.regions);
    run_shares(slice * blocks + block, own * turns_ / added.regions, turns_, added.worker);
  }

  // The bias gradient does least with what it reads, so it comes first.
  void run_shares(std::int64_t owner, std::int64_t done, std::int64_t of, int worker) {
    bias_.run(owner, done, of, worker);
    input_.run(owner, done, of, worker);
  }

  const FilterProgram& filter_;
  const Policy& policy_;
  const std::int64_t turns_;
  Share input_, bias_;
  const WorkerUnits* main_ = nullptr;
};

// A course whose units `then` takes care of.
template <class Then>
Course handing_to(const Policy& policy, Then& then) {
  Course course(policy);
  course.run = [](void* context, const WorkerUnits& units) { return (*static_cast<Then*>(context))(units); };
  course.context = &then;
  return course;
}

}  // namespace

bool fit_together(const GatherProgram& input, const FilterProgram& filter) {
  const bool reads_dy_as_it_lies = direct(filter.dy), few_terms = filter.layer.taps * filter.layer.c_in <= kFewTerms;
  return reads_dy_as_it_lies && few_terms && filter.slices > 1 && filter.unit_count() <= kMostUnits &&
         filter.workers == input.workers;
}

Status run_gradients(const Gradients& all, const Policy& policy) {
  const auto& [kernels, input, filter, bias] = all;
  const bool shares_bias = !bias.program.pieces.empty() && bias.program.workers >= filter.program.workers;
  const auto run_bias = [&](const Course& course) {
    return run_filter(bias.program, kernels, bias.geometry, bias.args, course);
  };
  auto with_input = [&](const WorkerUnits& input_units) {
    auto with_bias = [&](const WorkerUnits& bias_units) {
      Joint joint(filter.program, policy, input_units, bias_units);
      return run_filter(filter.program, kernels, filter.geometry, filter.args, joint.course());
    };
    return shares_bias ? run_bias(handing_to(policy, with_bias)) : with_bias({0, 1, nullptr, nullptr});
  };
  CONVGRAD_RETURN_IF_ERROR(
      run_gather(input.program, kernels, input.geometry, input.args, handing_to(policy, with_input)));
  return shares_bias ? Status() : run_bias(policy);
}

}  // namespace convgrad::cpu

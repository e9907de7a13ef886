// Every kernel of the CUDA engine on a GPU, through the public interface on tensors in its memory: integers against the
// definition, bit for bit, on aligned and misaligned tensors between rims; infinities and NaNs, which must not meet
// padding; real numbers, of both signs and of one, within the stated bound of the plan's math, with the same bits
// whatever the alignment, in every rerun, and on two streams at once.
//
//   gpu_check [--problems N] [--start N] [--step N] [--terms N] [--reruns N] [--seconds S] [--patience S] [--seed N]
//
// Prints a row of JSON for each problem. Problem i is the same in every run of a seed; the first ones have every
// kernel. Exit status: 1 an answer is wrong, 2 there is no GPU to run on, 3 a problem lost the GPU or did not end
// within the patience: its row is the last, and --start goes on behind it.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

#include "engines/cuda/program.h"
#include "gpu_place.h"
#include "support/accuracy.h"
#include "support/problems.h"

namespace convgrad::bench {
namespace {

struct Asked {
  std::int64_t start = 0, step = 1, problems = 1 << 30, terms = 20'000'000, reruns = 100, seed = 1;
  double seconds = 120, patience = 60;
};

// ---- Which problems ----

struct Numbered {
  ConvProblem problem;
  cuda::Hardware hardware;
  MathMode math = MathMode::standard;  // permitted
};

// The kernels of a program for tensors that are aligned, and for others.
std::set<cuda::Kernel> kernels_of(const cuda::Program& program) {
  alignas(256) static std::byte memory[512];
  std::set<cuda::Kernel> used;
  for (const std::size_t shift : {std::size_t{0}, size_of(program.geometry.dtype)})
    for (const cuda::Launch& launch : program.launches({memory + shift, memory + shift, memory + shift, memory}))
      used.insert(launch.kernel);
  return used;
}

// Patches with a halo: gathers, and filter gradients of 3 to 5 tiles a warpgroup.
void add_halos(const std::string& dtype, std::vector<std::string>& all) {
  for (const char* direction : {"_forward", "_input_grad"})
    for (const char* channels : {"c32h7w8_k32", "c32h7w8_k64", "c64h7w8_k32", "c64h7w8_k64"})
      all.push_back("n1" + std::string(channels) + "r2s3_same_" + dtype + direction);
  for (const char* shape : {"c64h7w8_k64r2s3", "c64h7w8_k32r2s3", "c64h7w8_k64r2s4", "c64h7w8_k32r2s4",
                            "c64h7w8_k64r3s3", "c64h7w8_k32r3s3", "c32h7w8_k64r2s3", "c32h7w8_k32r2s3",
                            "c32h7w8_k64r4s5", "c32h7w8_k32r4s5", "c32d3h7w8_k64t3r3s3", "c32d3h7w8_k32t3r3s3"})
    all.push_back("n1" + std::string(shape) + "_same_" + dtype + "_filter_grad");
}

// Problems among which every kernel is used, the smallest first.
std::vector<std::string> candidates() {
  std::vector<std::string> all;
  for (const char* dtype : {"f64", "f32", "i32", "bf16", "f16"})
    for (const char* layout : {"chlast_", "chfirst_"}) {
      const std::string kind = std::string(layout) + dtype;
      for (const char* direction : {"_forward", "_input_grad", "_filter_grad"}) {
        for (const int c : {4, 9, 16, 32, 48, 64, 128})
          for (const int k : {4, 9, 16, 32, 48, 64, 128})
            all.push_back("n1c" + std::to_string(c) + "h4w5_k" + std::to_string(k) + "r2s2_same_" + kind + direction);
        all.push_back("n2c6h7w5_k12r3s3_st2x1_same_g3_" + kind + direction);
        all.push_back("n2c8h9w6_k8r3s3_same_g8_" + kind + direction);
      }
      all.push_back("n2c9h5w6_k9r1s1_valid_" + kind + "_bias_grad");
      all.push_back("n4c16h33w33_k16r1s1_valid_" + kind + "_filter_grad");  // long enough for slices
    }
  for (const char* dtype : {"bf16", "f16"}) add_halos(dtype, all);
  return all;
}

// One problem for each kernel that one of the machines has.
class Cover {
 public:
  explicit Cover(const std::vector<cuda::Hardware>& machines) {
    for (const cuda::Hardware& hardware : machines)
      for (const std::string& text : candidates()) add(parse_problem(text).value(), hardware);
  }

  const std::vector<Numbered>& problems() const { return problems_; }
  bool has(cuda::Kernel kernel) const { return had_.contains(kernel); }

 private:
  void add(const ConvProblem& problem, const cuda::Hardware& hardware) {
    const Result<Geometry> g = validate(problem);
    if (!g.ok()) return;  // int32, where TensorFlow takes none
    const std::set<cuda::Kernel> used = kernels_of(cuda::program_for(*g, hardware));
    const std::size_t before = had_.size();
    had_.insert(used.begin(), used.end());
    if (had_.size() == before) return;
    problems_.push_back({problem, hardware});
    if (cuda::program_for(*g, hardware, MathMode::tf32).math() == MathMode::tf32)
      problems_.push_back({problem, hardware, MathMode::tf32});
  }

  std::vector<Numbered> problems_;
  std::set<cuda::Kernel> had_;
};

// Channels and sizes as layers have them, with odd ones among them.
ConvProblem layer(test::Random& random) {
  ConvProblem p;
  p.rank = static_cast<int>(random.between(1, 3));
  p.direction = random.one_of({Direction::forward, Direction::input_grad, Direction::filter_grad});
  p.dtype = random.one_of({DType::f64, DType::f32, DType::bf16, DType::f16});
  p.layout = random.one_of({Layout::channels_last, Layout::channels_first});
  const std::int64_t piece = random.one_of({1, 2, 8, 8, 16}), groups = random.one_of({1, 1, 1, 2, 3});
  const bool first = groups == 1 && random.between(0, 3) == 0;  // a network's first layer
  p.filter_c = first ? random.between(1, 15) : piece * random.between(1, 200 / piece);
  p.c_in = p.filter_c * groups;
  p.c_out = piece * random.between(1, 200 / piece) * groups;
  p.n = random.between(1, 5);
  p.padding = random.one_of({PaddingKind::same, PaddingKind::valid});
  for (std::size_t i = 0; i < 3; ++i) {
    p.filter[i] = random.between(1, 4);
    p.stride[i] = random.one_of({1, 1, 2, 3});
    p.dilation[i] = random.one_of({1, 1, 2});
    p.in[i] = random.between(7, p.rank == 1 ? 900 : p.rank == 2 ? 40 : 14);
  }
  return p;
}

ConvProblem layer_of(test::Random& random, double most_terms) {
  while (true) {
    const ConvProblem p = layer(random);
    const Result<Geometry> g = validate(p);
    if (g.ok() && nominal_flops(*g) / 2 <= most_terms) return p;
  }
}

// Every feature at random; some int32, some bias gradients.
ConvProblem anything(test::Random& random, double most_terms) {
  ConvProblem p = test::random_problem(random, most_terms);
  if (random.between(0, 15) == 0) p.direction = Direction::bias_grad;
  if (random.between(0, 15) == 0 && p.direction < Direction::filter_grad) p.dtype = DType::i32;
  return p;
}

class Problems {
 public:
  Problems(std::vector<cuda::Hardware> machines, const Asked& asked)
      : machines_(std::move(machines)), cover_(machines_), asked_(asked) {}

  bool is_one_of_the_first(std::int64_t index) const { return index < std::ssize(cover_.problems()); }
  // Names of kernels that no problem of the cover uses, though this GPU has them.
  std::vector<std::string_view> forgotten() const {
    std::vector<std::string_view> names;
    for (std::size_t i = 0; i < cuda::kKernels; ++i) {
      const cuda::KernelInfo& info = cuda::info(static_cast<cuda::Kernel>(i));
      const bool is_here = machines_[0].hopper || !info.group.ends_with("_hopper");
      if (is_here && !cover_.has(static_cast<cuda::Kernel>(i))) names.push_back(info.name);
    }
    return names;
  }
  Numbered at(std::int64_t index) const {
    if (is_one_of_the_first(index)) return cover_.problems()[static_cast<std::size_t>(index)];
    test::Random random(static_cast<std::uint64_t>(asked_.seed * 1'000'003 + index));
    const auto terms = static_cast<double>(asked_.terms);
    const cuda::Hardware& hardware = machines_[random.bits() % machines_.size()];
    const MathMode math = random.one_of({MathMode::standard, MathMode::tf32});
    return {index % 2 == 0 ? layer_of(random, terms) : anything(random, std::min(terms, 20000.0)), hardware, math};
  }

 private:
  std::vector<cuda::Hardware> machines_;
  Cover cover_;
  Asked asked_;
};

// ---- One problem ----

struct Row {
  std::int64_t index = 0;
  std::string problem;
  bool hopper = false;
  MathMode math = MathMode::standard;  // the plan's
  std::set<cuda::Kernel> kernels;
  std::vector<std::string> faults;

  void print() const {
    std::string names, said;
    for (const cuda::Kernel kernel : kernels) names += (names.empty() ? "" : ", ") + quoted(cuda::info(kernel).name);
    for (const std::string& fault : faults) said += (said.empty() ? "" : ", ") + quoted(fault);
    std::printf(
        "{\"index\": %lld, \"problem\": %s, \"hopper\": %s, \"math\": %s, \"kernels\": [%s], \"faults\": [%s]}\n",
        static_cast<long long>(index), quoted(problem).c_str(), hopper ? "true" : "false",
        quoted(info(math).name).c_str(), names.c_str(), said.c_str());
    std::fflush(stdout);
  }
};

// A plan for the hardware that is to be played: an older GPU's kernels run on a newer one.
Result<Plan> plan_for(const Geometry& g, const Numbered& numbered) {
  Result<Plan> plan = make_plan(g, {.math = numbered.math, .place = {.memory = Memory::cuda}});
  if (!plan.ok()) return plan;
  const auto program = std::make_shared<cuda::Program>(cuda::program_for(g, numbered.hardware, numbered.math));
  plan->workspace_bytes = program->workspace_bytes;
  plan->math = program->math();
  plan->program = program;
  return plan;
}

// Status: the GPU failed; faults: it answered, and wrongly.
class Check {
 public:
  Check(const cuda::Device& device, const Plan& plan, std::int64_t index)
      : device_(device), plan_(plan), g_(plan.geometry), random_(static_cast<std::uint64_t>(index)) {}

  Status integers() {
    const test::Operands given = test::random_operands(random_, g_);
    const Result<Tensor> wanted = compute(problem_of(g_), given.first, given.second, {.engine = "reference"});
    if (!wanted.ok()) return wanted.status();
    for (const std::size_t shift : {0u, 1u}) {
      const Result<Placed> placed = Placed::make(device_, plan_, shift, nullptr);
      if (!placed.ok()) return placed.status();
      const Result<Tensor> got = answer(*placed, given);
      if (!got.ok()) return got.status();
      complain(shift == 0 ? "integers" : "integers, misaligned", test::difference(*got, *wanted));
      const Result<bool> whole = placed->has_whole_rims();
      if (!whole.ok()) return whole.status();
      if (!*whole) complain("memory", "bytes before or behind a tensor were written");
    }
    return {};
  }

  // What falls on padding is no term, whatever stands on the other side.
  Status infinities() {
    if (g_.dtype == DType::i32 || g_.direction == Direction::bias_grad) return {};
    test::Operands given = test::random_operands(random_, g_);
    for (Tensor* tensor : {&given.first, &given.second})
      if (tensor->size() > 0)
        test::set(*tensor, random_.between(0, tensor->size() - 1), random_.one_of({kInfinity, -kInfinity, kNan}));
    const Result<Tensor> wanted = compute(problem_of(g_), given.first, given.second, {.engine = "reference"});
    if (!wanted.ok()) return wanted.status();
    const Result<Placed> placed = Placed::make(device_, plan_, 0, nullptr);
    if (!placed.ok()) return placed.status();
    const Result<Tensor> got = answer(*placed, given);
    if (got.ok()) complain("infinities", difference_in_value(*got, *wanted));
    return got.status();
  }

  Status reals(std::int64_t reruns) {
    real_ = g_.dtype == DType::i32 ? test::random_operands(random_, g_) : test::real_operands(random_, g_);
    if (random_.between(0, 1) == 0) make_positive(real_);
    const Result<Placed> placed = Placed::make(device_, plan_, 0, nullptr);
    if (!placed.ok()) return placed.status();
    const Result<Tensor> first = answer(*placed, real_);
    if (!first.ok()) return first.status();
    check_bound(*first);
    CONVGRAD_RETURN_IF_ERROR(check_misaligned(*first));
    for (std::int64_t i = 0; i < reruns && faults_.empty(); ++i) {
      const Result<Tensor> again = answer(*placed, real_);
      if (!again.ok()) return again.status();
      complain("rerun " + std::to_string(i), test::difference(*again, *first));
    }
    return reruns > 0 ? check_streams(*first) : Status();
  }

  const std::vector<std::string>& faults() const { return faults_; }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

  // The first element that is another number; NaNs are alike.
  static std::string difference_in_value(const Tensor& got, const Tensor& wanted) {
    for (std::int64_t i = 0; i < got.size(); ++i) {
      const double a = got.at(i), b = wanted.at(i);
      if (std::isnan(a) ? !std::isnan(b) : a != b)
        return "element " + std::to_string(i) + ": got " + std::to_string(a) + ", wanted " + std::to_string(b);
    }
    return "";
  }

  // Rounding errors of one sign add up.
  static void make_positive(test::Operands& operands) {
    for (Tensor* tensor : {&operands.first, &operands.second})
      for (std::int64_t i = 0; i < tensor->size(); ++i) test::set(*tensor, i, std::fabs(tensor->at(i)));
  }

  static Result<Tensor> answer(const Placed& placed, const test::Operands& given) {
    CONVGRAD_RETURN_IF_ERROR(placed.put({given.first, given.second}));
    CONVGRAD_RETURN_IF_ERROR(placed.poison());
    CONVGRAD_RETURN_IF_ERROR(placed.run());
    return placed.result();
  }

  void complain(const std::string& what, const std::string& difference) {
    if (!difference.empty()) faults_.push_back(what + ": " + difference);
  }

  void check_bound(const Tensor& got) {
    constexpr double kMostTerms = 2e5;  // 113-bit sums are slow
    if (g_.direction == Direction::bias_grad || nominal_flops(g_) / 2 > kMostTerms) return;
    const double share = test::worst_share(g_, real_.first, real_.second, got, plan_.math);
    if (!(share <= 1)) complain("reals", "an error of " + std::to_string(share) + " times the stated bound");
  }

  Status check_misaligned(const Tensor& first) {
    const Result<Placed> placed = Placed::make(device_, plan_, 1, nullptr);
    if (!placed.ok()) return placed.status();
    const Result<Tensor> got = answer(*placed, real_);
    if (got.ok()) complain("reals, misaligned", test::difference(*got, first));
    return got.status();
  }

  // Runs that may overlap, each stream with tensors of its own.
  Status check_streams(const Tensor& first) {
    constexpr int kRuns = 10;
    const Result<cuda::Stream> one = make_stream(device_), two = make_stream(device_);
    if (!one.ok() || !two.ok()) return one.ok() ? two.status() : one.status();
    const Result<Placed> a = Placed::make(device_, plan_, 0, one->get()),
                         b = Placed::make(device_, plan_, 1, two->get());
    if (!a.ok() || !b.ok()) return a.ok() ? b.status() : a.status();
    for (const Placed* placed : {&*a, &*b}) CONVGRAD_RETURN_IF_ERROR(placed->put({real_.first, real_.second}));
    for (const Placed* placed : {&*a, &*b}) CONVGRAD_RETURN_IF_ERROR(placed->wait());
    for (int i = 0; i < kRuns; ++i)
      for (const Placed* placed : {&*a, &*b}) CONVGRAD_RETURN_IF_ERROR(placed->run());
    for (const Placed* placed : {&*a, &*b}) {
      const Result<Tensor> got = placed->result();
      if (!got.ok()) return got.status();
      complain(placed == &*a ? "first of two streams" : "second of two streams", test::difference(*got, first));
    }
    return {};
  }

  const cuda::Device& device_;
  const Plan& plan_;
  const Geometry& g_;
  test::Random random_;
  test::Operands real_;
  std::vector<std::string> faults_;
};

// Ends the process when a problem takes too long: a kernel that waits for ever cannot be stopped otherwise.
class Watch {
 public:
  explicit Watch(double patience) : patience_(patience), thread_([this](std::stop_token stop) { look(stop); }) {}

  void begin(const Row& row) {
    row_ = &row;
    since_ = std::chrono::steady_clock::now().time_since_epoch().count();
  }
  void end() { since_ = 0; }

 private:
  void look(const std::stop_token& stop) const {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const std::chrono::steady_clock::duration begun(since_.load());
      const std::chrono::duration<double> spent = std::chrono::steady_clock::now().time_since_epoch() - begun;
      if (begun.count() == 0 || spent.count() < patience_) continue;
      Row row = *row_;
      row.faults.push_back("no end within " + std::to_string(patience_) + " s");
      row.print();
      _exit(3);
    }
  }

  double patience_;
  const Row* row_ = nullptr;
  std::atomic<std::chrono::steady_clock::rep> since_{0};
  std::jthread thread_;
};

// ---- All problems ----

class Run {
 public:
  Run(const cuda::Device& device, const Asked& asked, std::vector<cuda::Hardware> machines)
      : device_(device), asked_(asked), problems_(std::move(machines), asked), watch_(asked.patience) {}

  int all() {
    const auto start = std::chrono::steady_clock::now();
    const std::vector<std::string_view> forgotten = problems_.forgotten();
    for (const std::string_view name : forgotten)
      std::fprintf(stderr, "gpu_check: no problem uses %s\n", std::string(name).c_str());
    for (std::int64_t i = asked_.start; i < asked_.problems; i += asked_.step) {
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > asked_.seconds) break;
      if (!one(i)) return 3;
    }
    std::fprintf(stderr, "%lld problems, %lld wrong\n", static_cast<long long>(done_), static_cast<long long>(wrong_));
    return wrong_ > 0 || !forgotten.empty() ? 1 : 0;
  }

 private:
  // Whether the GPU is still there.
  bool one(std::int64_t index) {
    const Numbered numbered = problems_.at(index);
    const Result<Geometry> g = validate(numbered.problem);
    if (!g.ok()) return true;  // a bias gradient or int32 where there is no such op
    Row row{index, to_text(numbered.problem), numbered.hardware.hopper, numbered.math, {}, {}};
    const Result<Plan> plan = plan_for(*g, numbered);
    Status gpu;
    if (plan.ok()) {
      row.math = plan->math;
      row.kernels = kernels_of(static_cast<const cuda::Program&>(*plan->program));
      watch_.begin(row);
      gpu = checked(*plan, row);
      watch_.end();
    } else {
      row.faults.push_back(plan.status().message());
    }
    if (!gpu.ok()) row.faults.push_back(gpu.message());
    row.print();
    ++done_;
    wrong_ += !row.faults.empty();
    return gpu.ok();
  }

  Status checked(const Plan& plan, Row& row) const {
    constexpr std::int64_t kBetweenReruns = 10;
    const bool again = problems_.is_one_of_the_first(row.index) || row.index % kBetweenReruns == 0;
    Check check(device_, plan, row.index);
    Status done = check.integers();
    if (done.ok()) done = check.infinities();
    if (done.ok()) done = check.reals(again ? asked_.reruns : 0);
    row.faults = check.faults();
    return done;
  }

  const cuda::Device& device_;
  Asked asked_;
  Problems problems_;
  Watch watch_;
  std::int64_t done_ = 0, wrong_ = 0;
};

std::optional<Asked> parsed(int argc, char** argv) {
  Asked asked;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    std::int64_t* const number = name == "--problems" ? &asked.problems
                                 : name == "--start"  ? &asked.start
                                 : name == "--step"   ? &asked.step
                                 : name == "--terms"  ? &asked.terms
                                 : name == "--reruns" ? &asked.reruns
                                 : name == "--seed"   ? &asked.seed
                                                      : nullptr;
    double* const seconds = name == "--seconds" ? &asked.seconds : name == "--patience" ? &asked.patience : nullptr;
    if (number == nullptr && seconds == nullptr) return std::nullopt;
    if (number != nullptr) *number = std::atoll(argv[i + 1]);
    if (seconds != nullptr) *seconds = std::atof(argv[i + 1]);
  }
  return argc % 2 == 1 ? std::optional(asked) : std::nullopt;
}

int checked_here(const Asked& asked) {
  const Result<const cuda::Device*> device = cuda::Device::of(0);
  if (!device.ok()) {
    std::fprintf(stderr, "gpu_check: %s\n", device.status().message().c_str());
    return 2;
  }
  const cuda::InContext current(**device);
  const cuda::DeviceFacts& facts = (*device)->facts();
  const auto shared = static_cast<unsigned>(facts.shared_bytes);
  std::vector<cuda::Hardware> machines;
  if (facts.major == 9) machines.push_back({.hopper = true, .shared_bytes = shared});
  machines.push_back({.hopper = false, .shared_bytes = shared});
  std::fprintf(stderr, "gpu_check: %s, compute capability %d.%d\n", facts.name.c_str(), facts.major, facts.minor);
  return Run(**device, asked, std::move(machines)).all();
}

}  // namespace
}  // namespace convgrad::bench

int main(int argc, char** argv) {
  const std::optional<convgrad::bench::Asked> asked = convgrad::bench::parsed(argc, argv);
  if (asked) return convgrad::bench::checked_here(*asked);
  std::fprintf(stderr,
               "usage: gpu_check [--problems N] [--start N] [--step N] [--terms N] [--reruns N] [--seconds S] "
               "[--patience S] [--seed N]\n");
  return 2;
}

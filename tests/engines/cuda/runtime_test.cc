// The CUDA engine from obstacle to result, by the host driver: no GPU is needed. Tests that meet no driver come first,
// for one that was loaded stays.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "convgrad/convgrad_c.h"
#include "engines/cuda/host_driver.h"
#include "engines/cuda/runtime/device.h"
#include "engines/cuda/runtime/image.h"
#include "support/accuracy.h"
#include "support/problems.h"

namespace convgrad::test {
namespace {

constexpr const char* kVariable = "CONVGRAD_CUDA_DRIVER";
constexpr const char* kProblem = "n2c5h7w6_k3r3s2_st2_same_f32_filter_grad";

std::string obstacle_of_cuda() { return all_engines()[1].obstacle; }

bool has(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

TEST(Obstacle, no_kernels_or_no_driver) {
  unsetenv(kVariable);
  const std::string text = obstacle_of_cuda();
  if (cuda::has_images() && text.empty()) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_TRUE(has(text, cuda::has_images() ? "libcuda.so.1" : "built without CUDA kernels")) << text;
  const Status named = make_plan(parse_problem(kProblem).value(), {.engine = "cuda"}).status();
  EXPECT_EQ(named.rule(), "engine-name");
  EXPECT_EQ(named.code(), StatusCode::unimplemented);
  EXPECT_TRUE(has(named.message(), "engine cuda cannot run on this machine: " + text)) << named.message();
  const Policy on_device{.place = {.memory = Memory::cuda}};
  EXPECT_EQ(make_plan(parse_problem(kProblem).value(), on_device).status().message(), named.message());
}

TEST(Obstacle, a_library_that_cannot_be_loaded) {
  setenv(kVariable, "/nowhere/libcuda.so", 1);
  EXPECT_TRUE(has(obstacle_of_cuda(), "the NVIDIA driver cannot be loaded")) << obstacle_of_cuda();
  EXPECT_TRUE(has(obstacle_of_cuda(), "/nowhere/libcuda.so")) << obstacle_of_cuda();
}

TEST(Obstacle, a_library_that_is_no_driver) {
  setenv(kVariable, "libm.so.6", 1);
  const char* const wanted = cuda::has_images() ? "a library without" : "built without CUDA kernels";
  EXPECT_TRUE(has(obstacle_of_cuda(), wanted)) << obstacle_of_cuda();
}

HostDriver& host() {
  setenv(kVariable, CONVGRAD_HOST_DRIVER, 1);
  void* const library = dlopen(CONVGRAD_HOST_DRIVER, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto function = reinterpret_cast<HostDriverFunction>(dlsym(library, "convgrad_host_driver"));
  return *function();
}

// Sets switches, and sets them back.
struct Played {
  HostDriver& driver = host();
  const HostDriver before = driver;
  Played() = default;
  Played(const Played&) = delete;
  ~Played() {
    driver.devices = before.devices;
    driver.major = before.major;
    driver.memory_pools = before.memory_pools;
    driver.capturing = false;
    driver.fail.clear();
  }
};

void fail(HostDriver& driver, const char* call, int which, int error = 999) {
  driver.fail = call;
  driver.countdown = which;
  driver.error = error;
  driver.failed = false;
}

TEST(Obstacle, a_driver_that_does_not_start) {
  const Played played;
  fail(host(), "cuInit", 1, cuda::kNoDevice);
  const std::string text = obstacle_of_cuda();
  if (!host().failed) GTEST_SKIP() << "started already";
  EXPECT_TRUE(has(text, "cuInit(0) failed at driver.cc:")) << text;
  EXPECT_TRUE(has(text, "(error 100)")) << text;
  EXPECT_EQ(obstacle_of_cuda(), "");
}

TEST(Obstacle, no_gpu_or_an_old_one) {
  const Played played;
  host().devices = 0;
  EXPECT_TRUE(has(obstacle_of_cuda(), "the NVIDIA driver sees no GPU")) << obstacle_of_cuda();
  host().devices = 1;
  host().major = 7;
  EXPECT_TRUE(has(obstacle_of_cuda(), "the GPU host machine is too old")) << obstacle_of_cuda();
  EXPECT_TRUE(has(obstacle_of_cuda(), "compute capability 7.0")) << obstacle_of_cuda();
}

TEST(Images, have_every_kernel_by_its_name) {
  if (!cuda::has_images()) GTEST_SKIP() << "built without CONVGRAD_CUDA";
  for (std::size_t i = 0; i < cuda::kKernels; ++i) {
    const cuda::KernelInfo& kernel = cuda::info(static_cast<cuda::Kernel>(i));
    const std::span<const std::byte> bytes = cuda::image(kernel.group);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    EXPECT_NE(text.find(kernel.name), std::string_view::npos) << kernel.name;
  }
  EXPECT_TRUE(cuda::image("none").empty());
}

// ---- Runs ----

struct Case {
  ConvProblem problem;
  Operands given;
  Tensor wanted;

  explicit Case(const ConvProblem& p, std::uint64_t seed = 7) : problem(p) {
    Random random(seed);
    const Geometry geometry = validate(p).value();
    given = random_operands(random, geometry);
    wanted = by_definition(geometry, given.first, given.second);
  }
  explicit Case(const char* text) : Case(parse_problem(text).value()) {}

  Result<Tensor> on_host() const { return compute(problem, given.first, given.second, {.engine = "cuda"}); }
};

void expect_nothing_left() {
  EXPECT_EQ(host().buffers, 0u);
  EXPECT_EQ(host().streams, 0u);
  EXPECT_EQ(host().events, 0u);
  EXPECT_EQ(host().contexts, 0u);
  EXPECT_EQ(host().overruns, 0u);
}

TEST(Run, host_tensors_are_copied_there_and_back) {
  host();
  const Case small(kProblem);
  const Result<Tensor> got = small.on_host();
  ASSERT_TRUE(got.ok()) << got.status().message() << host().complaint;
  EXPECT_EQ(difference(*got, small.wanted), "");
  expect_nothing_left();
}

TEST(Run, threads_may_start_it_together) {
  host();
  const Case small(kProblem);
  std::vector<std::string> differences(4);
  std::vector<std::jthread> threads;
  for (std::string& text : differences) {
    threads.emplace_back([&text, &small] {
      const Result<Tensor> got = small.on_host();
      text = got.ok() ? difference(*got, small.wanted) : got.status().message();
    });
  }
  threads.clear();
  EXPECT_EQ(differences, std::vector<std::string>(4));
  expect_nothing_left();
}

TEST(Run, host_tensors_stay_on_the_cpu_unless_cuda_is_named) {
  host();
  const Geometry geometry = validate(parse_problem(kProblem).value()).value();
  const int before = host().calls["cuInit"];
  EXPECT_EQ(make_plan(geometry).value().engine, "cpu");
  EXPECT_TRUE(has(proposals(geometry)[1].plan.status().message(), "stay on the CPU unless engine cuda is asked for"));
  EXPECT_EQ(host().calls["cuInit"], before);
  const Plan named = make_plan(geometry, {.engine = "cuda"}).value();
  EXPECT_EQ(named.workspace_bytes, 0);
  EXPECT_GT(named.cost_us, 20);
  EXPECT_TRUE(has(named.why, "copied to and from host machine")) << named.why;
  const Policy on_device{.place = {.memory = Memory::cuda}};
  EXPECT_EQ(make_plan(geometry, on_device).value().engine, "cuda");
}

// Tensors in the device's memory, in a stream's order.
class OnDevice {
 public:
  explicit OnDevice(const Case& made, int device = 0)
      : case_(made), device_(*cuda::Device::of(device).value()), current_(device_) {
    plan = make_plan(made.problem, {.place = {Memory::cuda, device}}).value();
    first_ = placed(made.given.first);
    if (plan.geometry.direction != Direction::bias_grad) second_ = placed(made.given.second);
    result_ = memory(made.wanted.bytes());
    workspace_ = memory(plan.workspace_bytes);
    args.first = {first_.get(), made.problem.dtype, made.given.first.shape(), {}};
    args.second = {second_.get(), made.problem.dtype, made.given.second.shape(), {}};
    args.result = {result_.get(), made.problem.dtype, made.wanted.shape(), {}};
    args.workspace = {workspace_.get(), static_cast<std::size_t>(plan.workspace_bytes)};
  }

  Tensor result() const {
    Tensor got = Tensor::zeros(case_.problem.dtype, case_.wanted.shape()).value();
    const std::span<std::byte> there(static_cast<std::byte*>(got.data()), static_cast<std::size_t>(got.bytes()));
    EXPECT_TRUE(copy_out(device_, there, result_.get(), nullptr).ok());
    return got;
  }

  Plan plan;
  RunArgs args;

 private:
  cuda::Buffer memory(std::int64_t bytes) const {
    return allocate(device_, static_cast<std::size_t>(bytes), nullptr).value();
  }
  cuda::Buffer placed(const Tensor& tensor) const {
    cuda::Buffer there = memory(tensor.bytes());
    const auto* const data = static_cast<const std::byte*>(tensor.data());
    EXPECT_TRUE(copy_in(device_, there.get(), {data, static_cast<std::size_t>(tensor.bytes())}, nullptr).ok());
    return there;
  }

  const Case& case_;
  const cuda::Device& device_;
  const cuda::InContext current_;
  cuda::Buffer first_, second_, result_, workspace_;
};

TEST(Run, device_tensors_are_used_in_place) {
  host();
  const Case made("n4c8h33w33_k8r3s3_same_f32_filter_grad");
  {
    const OnDevice there(made);
    EXPECT_GT(there.plan.workspace_bytes, 0);
    const std::map<std::string, int> before = host().calls;
    const Status done = run(there.plan, there.args);
    ASSERT_TRUE(done.ok()) << done.message() << host().complaint;
    for (const char* call : {"cuStreamSynchronize", "cuMemAllocAsync", "cuMemcpyHtoDAsync_v2", "cuStreamCreate"})
      EXPECT_EQ(host().calls[call], before.contains(call) ? before.at(call) : 0) << call;
    EXPECT_EQ(difference(there.result(), made.wanted), "");
  }
  expect_nothing_left();
}

TEST(Run, c_callers_have_device_tensors_used_in_place) {
  host();
  const Case made(kProblem);
  const OnDevice there(made);
  convgrad_policy policy{};
  policy.struct_size = sizeof(policy);
  policy.memory = CONVGRAD_MEMORY_CUDA;
  convgrad_plan* plan = nullptr;
  ASSERT_EQ(convgrad_plan_create_from_problem(kProblem, &policy, &plan), CONVGRAD_OK) << convgrad_last_message();
  convgrad_buffers buffers{};
  buffers.struct_size = sizeof(buffers);
  buffers.first = there.args.first.data;
  buffers.first_bytes = static_cast<std::size_t>(made.given.first.bytes());
  buffers.second = there.args.second.data;
  buffers.second_bytes = static_cast<std::size_t>(made.given.second.bytes());
  buffers.result = there.args.result.data;
  buffers.result_bytes = static_cast<std::size_t>(made.wanted.bytes());
  EXPECT_EQ(convgrad_plan_run(plan, &buffers), CONVGRAD_OK) << convgrad_last_message();
  EXPECT_EQ(difference(there.result(), made.wanted), "");
  buffers.first = made.given.first.data();
  EXPECT_EQ(convgrad_plan_run(plan, &buffers), CONVGRAD_INVALID_ARGUMENT);
  EXPECT_STREQ(convgrad_last_rule(), "device");
  convgrad_plan_destroy(plan);
}

TEST(Run, can_be_captured_with_a_workspace_from_the_first_run_on) {
  const Case made(kProblem);
  const Played played;
  const OnDevice there(made);
  host().capturing = true;
  const Status done = run(there.plan, there.args);
  EXPECT_TRUE(done.ok()) << done.message();
  host().capturing = false;
  EXPECT_EQ(difference(there.result(), made.wanted), "");
}

TEST(Run, without_a_workspace_takes_one_and_gives_it_back) {
  const Played played;
  const Case made("n4c8h33w33_k8r3s3_same_f32_filter_grad");
  for (const int device : {0, 1}) {
    host().devices = 2;
    host().memory_pools = 1 - device;  // looked at when a device is opened
    OnDevice there(made, device);
    there.args.workspace = {};
    const std::size_t before = host().buffers;
    const Status done = run(there.plan, there.args);
    ASSERT_TRUE(done.ok()) << done.message();
    EXPECT_EQ(host().buffers, before);
    EXPECT_EQ(difference(there.result(), made.wanted), "");
  }
  EXPECT_GT(host().calls["cuMemFree_v2"], 0);
}

TEST(Run, refuses_what_is_not_on_the_device) {
  const Played played;
  const Case made(kProblem);
  OnDevice there(made);
  const TensorView first = there.args.first;
  const auto refused = [&](const char* argument, const char* rule, const char* text) {
    const Status status = run(there.plan, there.args);
    EXPECT_EQ(status.code(), StatusCode::invalid_argument) << status.message();
    EXPECT_EQ(status.argument(), argument) << status.message();
    EXPECT_EQ(status.rule(), rule) << status.message();
    EXPECT_TRUE(has(status.message(), text)) << status.message();
  };
  there.args.first = made.given.first;
  refused("input", "device", "got memory of the host, wanted memory of GPU 0");
  host().devices = 2;
  const OnDevice elsewhere(made, 1);
  there.args.first = elsewhere.args.first;
  refused("input", "device", "got memory of GPU 1, wanted memory of GPU 0");
  there.args.first = first;
  there.args.first.byte_strides = {840, 120, 20, 4};
  refused("input", "operand-data", "input lies in a GPU's memory and has byte_strides");
  there.args.first = first;
  there.args.first.data = static_cast<const char*>(first.data) + 1;
  refused("input", "operand-data", "is misaligned");
  there.args.first = first;
  EXPECT_TRUE(run(there.plan, there.args).ok());
  there.plan.program = std::make_shared<EngineProgram>();
  refused("plan", "engine-name", "not as make_plan() gave it");
}

TEST(Run, a_gpu_that_is_not_there_is_refused) {
  host();
  const ConvProblem problem = parse_problem(kProblem).value();
  for (const int device : {-1, 1, 1000}) {
    const Status status = make_plan(problem, {.engine = "cuda", .place = {.device = device}}).status();
    EXPECT_EQ(status.rule(), "device") << status.message();
    EXPECT_TRUE(has(status.message(), "there is no such GPU")) << status.message();
  }
}

TEST(Run, canonical_results_are_refused) {
  host();
  const Status status =
      make_plan(parse_problem(kProblem).value(), {.engine = "cuda", .math = MathMode::canonical}).status();
  EXPECT_EQ(status.rule(), "policy");
  EXPECT_TRUE(has(status.message(), "a GPU has its own")) << status.message();
}

// By name alone, where it gains; the plan says what is done and how far off that is.
TEST(Run, tf32_is_used_where_it_is_permitted) {
  const Played played;
  const Geometry g = validate(parse_problem("n1c64h5w5_k64r3s3_same_f32_input_grad").value()).value();
  const auto plan = [&](MathMode math) { return make_plan(g, {.engine = "cuda", .math = math}).value(); };
  EXPECT_EQ(plan(MathMode::standard).math, MathMode::standard);
  const Plan fast = plan(MathMode::tf32);
  EXPECT_EQ(fast.math, MathMode::tf32);
  EXPECT_TRUE(has(fast.why, "tf32 math: f32 as two bf16 planes, |error| <= (2^-15 + 2^-21) sum|ab|")) << fast.why;
  Random random(9);
  const Operands given = real_operands(random, g);
  const auto result = [&](MathMode math) {
    return compute(problem_of(g), given.first, given.second, {.engine = "cuda", .math = math}).value();
  };
  const Tensor got = result(MathMode::tf32);
  EXPECT_LE(worst_share(g, given.first, given.second, got, MathMode::tf32), 1.0);
  EXPECT_NE(difference(got, result(MathMode::standard)), "");
  host().major = 8;
  EXPECT_EQ(make_plan(g, {.engine = "cuda", .threads = 1, .math = MathMode::tf32})->math, MathMode::standard);
}

TEST(Run, stops_when_cancelled) {
  host();
  const Case made(kProblem);
  const std::atomic<bool> up{true};
  const Policy policy{.engine = "cuda", .cancel = &up};
  const Result<Tensor> got = compute(made.problem, made.given.first, made.given.second, policy);
  EXPECT_EQ(got.status().code(), StatusCode::cancelled);
  expect_nothing_left();
}

TEST(Runtime, events_time_what_lies_between_them) {
  host();
  const cuda::Device& device = *cuda::Device::of(0).value();
  const cuda::InContext current(device);
  {
    const cuda::Event from = make_event(device).value(), to = make_event(device).value();
    const cuda::Buffer memory = allocate(device, 100, nullptr).value();
    std::vector<std::byte> got(100);
    ASSERT_TRUE(record(device, from, nullptr).ok());
    ASSERT_TRUE(fill(device, memory.get(), got.size(), 7, nullptr).ok());
    ASSERT_TRUE(record(device, to, nullptr).ok());
    EXPECT_GE(microseconds_between(device, from, to).value(), 0);
    ASSERT_TRUE(copy_out(device, got, memory.get(), nullptr).ok());
    EXPECT_EQ(got, std::vector<std::byte>(100, std::byte{7}));
  }
  EXPECT_EQ(host().events, 0u);
  EXPECT_EQ(host().buffers, 0u);
}

// ---- Failures ----

constexpr const char* kCalls[] = {
#define CONVGRAD_CUDA_FUNCTION(name, ...) #name,
#include "engines/cuda/runtime/driver.inc"
#undef CONVGRAD_CUDA_FUNCTION
};

// Whether the call failed; a failure is a Status that names it, unless nobody needs its answer.
bool fails_cleanly(const Case& made, const char* call, int which) {
  fail(host(), call, which);
  const Result<Tensor> got = made.on_host();
  const bool failed = host().failed;
  host().fail.clear();
  if (got.ok()) {
    EXPECT_EQ(difference(*got, made.wanted), "") << call;
  } else {
    EXPECT_TRUE(failed) << got.status().message();
    EXPECT_TRUE(has(got.status().message(), call)) << got.status().message();
    EXPECT_TRUE(has(got.status().message(), "(error 999)")) << got.status().message();
  }
  EXPECT_EQ(host().overruns, 0u);
  return failed;
}

// A free, pop or destroy that fails leaves what it should have freed: the driver is broken then.
bool leaves_things(std::string_view call) {
  return call.starts_with("cuMemFree") || call == "cuCtxPopCurrent_v2" || call == "cuStreamDestroy_v2" ||
         call == "cuEventDestroy_v2";
}

TEST(Failures, every_call_of_the_first_run) {
  host();
  const Case made(kProblem);
  for (const char* call : kCalls) {
    if (leaves_things(call)) continue;
    fails_cleanly(made, call, 1);
    expect_nothing_left();
  }
  EXPECT_EQ(difference(made.on_host().value(), made.wanted), "");
}

TEST(Failures, every_call_of_a_later_run_and_the_next_run_works) {
  host();
  const Case made(kProblem);
  ASSERT_TRUE(made.on_host().ok());
  int failures = 0;
  for (const char* call : kCalls) {
    if (leaves_things(call)) continue;
    for (int which = 1; fails_cleanly(made, call, which); ++which, ++failures) {
      expect_nothing_left();
      const Result<Tensor> next = made.on_host();
      ASSERT_TRUE(next.ok()) << call << ": " << next.status().message();
      ASSERT_EQ(difference(*next, made.wanted), "") << call;
    }
  }
  EXPECT_GE(failures, 7);  // push, stream, memory, two copies in, launch, copy out, wait
}

TEST(Failures, out_of_memory_has_its_own_code) {
  const Played played;
  const Case made(kProblem);
  fail(host(), "cuMemAllocAsync", 1, cuda::kOutOfMemory);
  const Status status = made.on_host().status();
  EXPECT_EQ(status.code(), StatusCode::resource_exhausted) << status.message();
  EXPECT_EQ(status.rule(), "resource");
  EXPECT_TRUE(has(status.message(), "out of memory")) << status.message();
  expect_nothing_left();
  EXPECT_TRUE(made.on_host().ok());
}

TEST(Fork, a_child_is_refused_and_its_cpu_works) {
  host();
  const Case made(kProblem);
  ASSERT_TRUE(made.on_host().ok());
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(60);
    const Status status = made.on_host().status();
    const bool refused = has(status.message(), "forked from one that used CUDA") && has(obstacle_of_cuda(), "forked");
    _exit(refused && compute(made.problem, made.given.first, made.given.second).ok() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(made.on_host().ok());
}

// ---- Random problems ----

TEST(Random, problems_of_all_kinds_give_the_definitions_bits) {
  const Played played;
  HostDriver& driver = host();
  Random random(11);
  const std::int64_t count = std::max<std::int64_t>(60, problem_count() / 20);
  std::int64_t done = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const Case made(random_problem(random, 3000), random.bits());
    driver.seed = random.bits();
    driver.major = i % 2 == 0 ? 9 : 8;
    const Result<Tensor> got = made.on_host();
    if (!got.ok() && got.status().rule() == "engine-name") continue;  // an objection
    ASSERT_TRUE(got.ok()) << to_text(made.problem) << ": " << got.status().message() << "; " << driver.complaint;
    ASSERT_EQ(difference(*got, made.wanted), "") << to_text(made.problem);
    ++done;
  }
  EXPECT_GE(done, count / 2);
  expect_nothing_left();
}

}  // namespace
}  // namespace convgrad::test

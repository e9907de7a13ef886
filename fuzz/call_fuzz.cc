// Bytes as an op call: a plausible one, spoilt in a few places by numbers from the edges of their types.
// validate() must give the same verdict twice, and what it lets through, when small enough, is computed
// in all three directions, whose inner products must agree exactly:
//   <conv(x, w), g> = <x, input_grad(w, g)> = <w, filter_grad(x, g)>
// How to build and run: fuzz/CMakeLists.txt.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "convgrad/convgrad.h"

namespace {

using namespace convgrad;
using List = std::vector<std::int64_t>;

void demand(bool fact, const char* what, const Geometry& g) {
  if (fact) return;
  std::fprintf(stderr, "%s: %s\n", what, to_text(problem_of(g)).c_str());
  std::abort();
}

// The input, byte by byte; zeros past its end.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : next_(data), end_(data + size) {}
  int byte() { return next_ == end_ ? 0 : *next_++; }
  std::int64_t from(std::int64_t low, std::int64_t high) { return low + byte() % (high - low + 1); }
  std::int64_t edge() {
    constexpr std::int64_t kEdges[] = {0,
                                       -1,
                                       1,
                                       2,
                                       3,
                                       100,
                                       1 << 16,
                                       1 << 20,
                                       2147483647,
                                       1LL << 31,
                                       -1 << 30,
                                       -(1LL << 31),
                                       4294967296,
                                       1LL << 40,
                                       3037000500,
                                       1LL << 61,
                                       1LL << 62,
                                       INT64_MAX,
                                       INT64_MIN,
                                       INT64_MAX - 1,
                                       INT64_MIN + 1,
                                       46341,
                                       2097152,
                                       6};
    return kEdges[static_cast<std::size_t>(byte()) % std::size(kEdges)];
  }

 private:
  const std::uint8_t* next_;
  const std::uint8_t* end_;
};

// A call and the memory its spans point to.
struct FuzzedCall {
  Op op{};
  DType dtype = DType::f64;
  List input, filter, out_backprop, sizes, strides, dilations, paddings;
  enum { derived, stated, missing } out = derived;
  int sizes_rank = 1;
  std::string padding, format;

  ConvCall call() const {
    ConvCall c;
    c.op = op;
    c.dtype = dtype;
    c.input = input;
    c.filter = filter;
    if (out == stated) c.out_backprop = out_backprop;
    c.derive_out = out == derived;
    c.sizes = sizes;
    c.sizes_rank = sizes_rank;
    c.strides = strides;
    c.dilations = dilations;
    c.padding = padding;
    c.explicit_paddings = paddings;
    c.data_format = format;
    return c;
  }
};

// Puts the batch and channel entries around the spatial ones, in the layout's order.
List laid_out(bool last, std::int64_t n, std::int64_t c, const List& spatial) {
  List list{n};
  if (!last) list.push_back(c);
  list.insert(list.end(), spatial.begin(), spatial.end());
  if (last) list.push_back(c);
  return list;
}

List drawn(Bytes& bytes, int count, std::int64_t low, std::int64_t high) {
  List list;
  for (int i = 0; i < count; ++i) list.push_back(bytes.from(low, high));
  return list;
}

FuzzedCall plausible(Bytes& bytes) {
  FuzzedCall c;
  c.op = static_cast<Op>(bytes.from(0, static_cast<std::int64_t>(all_ops().size()) - 1));
  const int rank = info(c.op).rank;
  const bool last = bytes.byte() % 2 == 0;
  c.format = data_format(last ? Layout::channels_last : Layout::channels_first, rank);
  c.dtype = bytes.byte() % 2 == 0 ? DType::f64 : DType::f32;
  const std::int64_t n = bytes.from(0, 3), groups = bytes.from(1, 3);
  const std::int64_t filter_c = bytes.from(1, 3), c_out = groups * bytes.from(0, 3);
  c.input = laid_out(last, n, groups * filter_c, drawn(bytes, rank, 0, 7));
  c.filter = drawn(bytes, rank, 0, 4);
  c.filter.insert(c.filter.end(), {filter_c, c_out});
  c.strides = laid_out(last, 1, 1, drawn(bytes, rank, 1, 4));
  c.dilations = laid_out(last, 1, 1, drawn(bytes, rank, 1, 3));
  const int padding = bytes.byte() % 3;
  c.padding = padding == 0 ? "SAME" : padding == 1 ? "VALID" : "EXPLICIT";
  for (std::int64_t pad : padding == 2 ? laid_out(last, 0, 0, drawn(bytes, rank, 0, 9)) : List())
    c.paddings.insert(c.paddings.end(), {pad % 4, pad / 3});
  c.sizes = info(c.op).direction == Direction::input_grad ? c.input : c.filter;
  return c;
}

void spoil_list(Bytes& bytes, List& list) {
  const int how = bytes.byte();
  if (how % 8 == 0) list.push_back(bytes.edge());
  if (how % 8 == 1 && !list.empty()) list.pop_back();
  if (how % 8 > 1 && !list.empty()) list[static_cast<std::size_t>(how / 8) % list.size()] = bytes.edge();
}

void spoil(Bytes& bytes, FuzzedCall& c) {
  constexpr std::string_view kNames[] = {"",     "SAME", "VALID", "EXPLICIT", "same",
                                         "NHWC", "NCHW", "NDHWC", "NCDHW",    "x"};
  List* const lists[] = {&c.input, &c.filter, &c.out_backprop, &c.sizes, &c.strides, &c.dilations, &c.paddings};
  const auto what = static_cast<std::size_t>(bytes.byte()) % 12;
  if (what < std::size(lists)) {
    spoil_list(bytes, *lists[what]);
    if (what < 2) c.sizes = info(c.op).direction == Direction::input_grad ? c.input : c.filter;
  }
  if (what == 7) c.padding = kNames[static_cast<std::size_t>(bytes.byte()) % std::size(kNames)];
  if (what == 8) c.format = kNames[static_cast<std::size_t>(bytes.byte()) % std::size(kNames)];
  if (what == 9) c.dtype = static_cast<DType>(bytes.from(-1, 6));
  if (what == 10) c.sizes_rank = static_cast<int>(bytes.edge());
  if (what == 11) c.out = bytes.byte() % 2 == 0 ? FuzzedCall::stated : FuzzedCall::missing;
}

// Small integers, so that every sum is exact in either type.
Tensor small_integers(DType dtype, Shape shape, std::uint32_t seed) {
  Tensor tensor = Tensor::zeros(dtype, std::move(shape)).value();
  const auto fill = [&seed]<class T>(std::span<T> values) {
    for (T& value : values) {
      seed = seed * 1664525 + 1013904223;
      value = static_cast<T>(static_cast<int>(seed >> 24) % 7 - 3);
    }
  };
  dtype == DType::f64 ? fill(tensor.as<double>()) : fill(tensor.as<float>());
  return tensor;
}

double inner(const Tensor& a, const Tensor& b) {
  double sum = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) sum += a.at(i) * b.at(i);
  return sum;
}

// By the loops as well as by the elements: an empty tensor may still have a long dimension.
bool small(const Geometry& g) {
  double cells = 1, taps = 1;
  for (int i = 0; i < 3; ++i) {
    cells *= static_cast<double>(std::max({g.in[i], g.out[i], std::int64_t{1}}));
    taps *= static_cast<double>(std::max(g.filter[i], std::int64_t{1}));
  }
  cells *= static_cast<double>(std::max(g.n, std::int64_t{1}));
  const double channels = static_cast<double>(g.c_in) + static_cast<double>(g.c_out);
  return cells * channels <= 20000 && taps * channels <= 20000 && cells * taps <= 40000 && nominal_flops(g) <= 40000;
}

// SAME around a filter of size 0 has an output size that no explicit padding gives.
bool empty_filter(const Geometry& g) { return g.filter[0] == 0 || g.filter[1] == 0 || g.filter[2] == 0; }

void problem_of_validates(const Geometry& g, const Limits& limits) {
  if (empty_filter(g)) return;
  const Result<Geometry> again = validate(problem_of(g), limits);
  demand(again.ok() && *again == g, "problem_of() does not validate to the same geometry", g);
}

Tensor computed(Geometry g, Direction direction, const Tensor& first, const Tensor& second) {
  g.direction = direction;
  Policy policy;
  policy.threads = 1;
  const Plan plan = make_plan(g, policy).value();
  Tensor result = Tensor::zeros(g.dtype, result_shape(g)).value();
  const Status done = run(plan, {first, second, result.mutable_view(), {}}, policy);
  demand(done.ok(), "a validated problem does not run", g);
  return result;
}

void adjoint_triangle(Geometry g) {
  if (g.dtype != DType::f32) g.dtype = DType::f64;
  const Tensor x = small_integers(g.dtype, in_shape(g), 1), w = small_integers(g.dtype, filter_shape(g), 2);
  const Tensor dy = small_integers(g.dtype, out_shape(g), 3);
  const double forward = inner(computed(g, Direction::forward, x, w), dy);
  demand(forward == inner(x, computed(g, Direction::input_grad, w, dy)), "the input gradient is no adjoint", g);
  demand(forward == inner(w, computed(g, Direction::filter_grad, x, dy)), "the filter gradient is no adjoint", g);
}

void same_verdict(const Result<Geometry>& a, const Result<Geometry>& b) {
  if (a.ok() != b.ok() || (a.ok() && !(*a == *b)) || a.status().message() != b.status().message() ||
      a.status().code() != b.status().code() || (!a.ok() && a.status().rule().empty())) {
    std::fprintf(stderr, "two verdicts: '%s' and '%s'\n", a.status().message().c_str(), b.status().message().c_str());
    std::abort();
  }
}

// Stating the size that was derived changes nothing.
void stated_as_derived(FuzzedCall owned, const Geometry& g, const Limits& limits) {
  if (owned.out != FuzzedCall::derived) return;
  owned.out = FuzzedCall::stated;
  owned.out_backprop = out_shape(g);
  const Result<Geometry> again = validate(owned.call(), limits);
  demand(again.ok() && *again == g, "the derived size of out_backprop is refused when stated", g);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Bytes bytes(data, size);
  FuzzedCall owned = plausible(bytes);
  for (std::int64_t i = bytes.from(0, 3); i > 0; --i) spoil(bytes, owned);
  Limits limits;
  if (bytes.byte() % 8 == 1) limits.max_bytes = bytes.edge();
  const Result<Geometry> geometry = validate(owned.call(), limits);
  same_verdict(geometry, validate(owned.call(), limits));
  if (!geometry.ok()) return 0;
  stated_as_derived(owned, *geometry, limits);
  problem_of_validates(*geometry, limits);
  if (small(*geometry)) adjoint_triangle(*geometry);
  return 0;
}

// Programs run on the host machine.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "engines/cuda/program.h"
#include "support/cuda_machine/launches.h"
#include "support/problems.h"

namespace convgrad::cuda {

// A copy of a tensor's bytes that starts `shift` elements off a 64-byte boundary.
class Shifted {
 public:
  Shifted(const Tensor& tensor, std::size_t shift) : bytes_(static_cast<std::size_t>(tensor.bytes()) + 128) {
    const auto start = reinterpret_cast<std::uintptr_t>(bytes_.data());
    data_ = bytes_.data() + (64 - start % 64) % 64 + shift * size_of(tensor.dtype());
    if (tensor.bytes() > 0) std::memcpy(data_, tensor.data(), static_cast<std::size_t>(tensor.bytes()));
  }
  const void* data() const { return data_; }

 private:
  std::vector<std::byte> bytes_;
  std::byte* data_;
};

struct Setting {
  Hardware hardware = {};
  std::uint64_t seed = 1;  // of the order in which threads run
  std::size_t shift = 0;   // of the operands, in elements
  std::set<Kernel>* used = nullptr;
  MathMode math = MathMode::standard;  // permitted
};

// The result, poisoned before; complaints of the machine are failures.
inline Tensor run(const Program& program, const test::Operands& given, const Setting& setting) {
  const Geometry& g = program.geometry;
  Tensor result = Tensor::zeros(g.dtype, result_shape(g)).value();
  if (result.bytes() > 0) std::memset(result.data(), 0xff, static_cast<std::size_t>(result.bytes()));
  std::vector<double> workspace(static_cast<std::size_t>(program.workspace_bytes) / 8 + 1,
                                std::numeric_limits<double>::quiet_NaN());
  const Shifted first(given.first, setting.shift), second(given.second, setting.shift);
  const std::vector<Launch> launches = program.launches({first.data(), second.data(), result.data(), workspace.data()});
  if (setting.used != nullptr)
    for (const Launch& launch : launches) setting.used->insert(launch.kernel);
  EXPECT_EQ(run_launches(launches, setting.seed), "") << to_text(problem_of(g));
  return result;
}
inline Tensor run(const Geometry& g, const test::Operands& given, const Setting& setting) {
  return run(program_for(g, setting.hardware, setting.math), given, setting);
}

// One element of each operand: infinite, or not a number.
inline void put_infinities(test::Random& random, test::Operands& given) {
  for (Tensor* tensor : {&given.first, &given.second})
    if (tensor->size() > 0)
      test::set(*tensor, random.between(0, tensor->size() - 1),
                random.one_of({std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}));
}

inline std::int64_t not_finite(const Tensor& tensor) {
  std::int64_t count = 0;
  for (std::int64_t at = 0; at < tensor.size(); ++at) count += !std::isfinite(tensor.at(at));
  return count;
}

// The first element that the reference, which multiplies no padding, has otherwise; empty: none. For sums that are
// exact where they are finite.
inline std::string unlike_reference(const Geometry& g, const test::Operands& given, const Tensor& got) {
  const Tensor wanted = compute(problem_of(g), given.first, given.second, {.engine = "reference"}).value();
  for (std::int64_t at = 0; at < got.size(); ++at) {
    const double a = got.at(at), b = wanted.at(at);
    if (std::isnan(a) ? !std::isnan(b) : a != b)
      return "element " + std::to_string(at) + ": " + std::to_string(a) + ", wanted " + std::to_string(b);
  }
  return "";
}

}  // namespace convgrad::cuda

// Products of a warp: the last lane to arrive computes them from everybody's fragments.
#include <cmath>

#include "support/cuda_machine/block.h"
#include "support/cuda_machine/numbers.h"

namespace convgrad::cuda {
namespace {

template <class C, class A>
struct Fragments {
  C* c;
  const A* a;
  const A* b;
};

struct Matrices {
  std::uint32_t* r;
  const std::byte* row;
};

template <class Argument>
const Argument& of_lane(const Meeting& meeting, unsigned lane) {
  return *static_cast<const Argument*>(meeting.arguments[lane]);
}

void multiply_f64(const Meeting& meeting) {
  const auto lane = [&](unsigned i) -> const Fragments<double, double>& {
    return of_lane<Fragments<double, double>>(meeting, i);
  };
  for (unsigned l = 0; l < kWarp; ++l) {
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = l / 4 + 8 * (i / 2), column = 2 * (l % 4) + i % 2;
      double& c = lane(l).c[i];
      for (unsigned k = 0; k < 4; ++k) c = std::fma(lane(row % 8 * 4 + k).a[row / 8], lane(column * 4 + k).b[0], c);
    }
  }
}

double half_of(bool bf16, std::uint32_t pair, unsigned i) {
  return element(bf16, static_cast<std::uint16_t>(pair >> 16 * i));
}

template <bool IsBf16>
void multiply_16(const Meeting& meeting) {
  using Lane = Fragments<float, std::uint32_t>;
  double a[16][16], b[16][8];  // [m][k], [k][n]
  for (unsigned l = 0; l < kWarp; ++l) {
    const Lane& lane = of_lane<Lane>(meeting, l);
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned e = 0; e < 2; ++e)
        a[l / 4 + 8 * (i % 2)][2 * (l % 4) + 8 * (i / 2) + e] = half_of(IsBf16, lane.a[i], e);
    for (unsigned i = 0; i < 2; ++i)
      for (unsigned e = 0; e < 2; ++e) b[2 * (l % 4) + 8 * i + e][l / 4] = half_of(IsBf16, lane.b[i], e);
  }
  for (unsigned l = 0; l < kWarp; ++l) {
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = l / 4 + 8 * (i / 2), column = 2 * (l % 4) + i % 2;
      float& c = of_lane<Lane>(meeting, l).c[i];
      double sum = c;
      for (unsigned k = 0; k < 16; ++k) sum += a[row][k] * b[k][column];
      c = toward_zero(sum);
    }
  }
}

std::uint32_t entry(const Meeting& meeting, unsigned matrix, unsigned row, unsigned column) {
  std::uint16_t bits;
  std::memcpy(&bits, of_lane<Matrices>(meeting, 8 * matrix + row).row + 2 * column, 2);
  return bits;
}

void hand_out_matrices(const Meeting& meeting, bool transposed) {
  for (unsigned l = 0; l < kWarp; ++l) {
    const unsigned g = l / 4, t = l % 4;
    for (unsigned i = 0; i < 4; ++i) {
      const std::uint32_t low = transposed ? entry(meeting, i, 2 * t, g) : entry(meeting, i, g, 2 * t);
      const std::uint32_t high = transposed ? entry(meeting, i, 2 * t + 1, g) : entry(meeting, i, g, 2 * t + 1);
      of_lane<Matrices>(meeting, l).r[i] = low | high << 16;
    }
  }
}

}  // namespace

void multiply(double (&c)[4], const double (&a)[2], const double (&b)[1]) {
  const Fragments<double, double> lane{c, a, b};
  block().meet(block().warp().meeting, kWarp, "multiply (f64)", lane, multiply_f64);
}

namespace host {

void multiply(bool bf16, float* c, const std::uint32_t* a, const std::uint32_t* b) {
  const Fragments<float, std::uint32_t> lane{c, a, b};
  block().meet(block().warp().meeting, kWarp, bf16 ? "multiply (bf16)" : "multiply (f16)", lane,
               bf16 ? multiply_16<true> : multiply_16<false>);
}

void load_matrices(bool transposed, std::uint32_t* r, unsigned at) {
  const Matrices lane{r, block().read(at, 16, 16, "load_matrices")};
  block().meet(block().warp().meeting, kWarp, transposed ? "load_matrices (transposed)" : "load_matrices", lane,
               [transposed](const Meeting& meeting) { hand_out_matrices(meeting, transposed); });
}

}  // namespace host
}  // namespace convgrad::cuda

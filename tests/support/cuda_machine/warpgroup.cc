// Products of a warpgroup: issued by 128 threads, done in order at some later moment, seen by a warp at its wait.
#include <algorithm>
#include <bit>

#include "support/cuda_machine/block.h"
#include "support/cuda_machine/numbers.h"

namespace convgrad::cuda {
namespace {

constexpr int kDepth = 16;  // k of one product

struct Request {
  host::Product product;
  float* d;
  std::uint64_t a, b;
  bool add;
};

const Request& request(const Meeting& meeting, unsigned lane) {
  return *static_cast<const Request*>(meeting.arguments[lane]);
}

bool same(const Request& x, const Request& y) {
  return x.product.bf16 == y.product.bf16 && x.product.columns == y.product.columns &&
         x.product.transpose_a == y.product.transpose_a && x.product.transpose_b == y.product.transpose_b &&
         x.a == y.a && x.b == y.b && x.add == y.add;
}

// A descriptor, decoded.
struct Operand {
  unsigned start, leading, stride;
  int swizzle;
  bool transposed;

  Operand(std::uint64_t bits, bool transposed_)
      : start(field(bits)),
        leading(field(bits >> 16)),
        stride(field(bits >> 32)),
        swizzle(static_cast<int>(std::array{0, 128, 64, 32}[bits >> 62])),
        transposed(transposed_) {}
  static unsigned field(std::uint64_t bits) { return static_cast<unsigned>(bits & 0x3fff) << 4; }

  // Where the 8 elements from (row, k) along the contiguous direction are, in the shared window.
  unsigned chunk(unsigned row, unsigned k) const {
    const unsigned pitch = swizzle == 0 ? 16 : static_cast<unsigned>(swizzle), wide = pitch / 2;
    unsigned at = start;
    if (!transposed) {
      at += row % 8 * pitch + row / 8 * stride + (swizzle == 0 ? k / 8 * leading : 2 * k);
    } else if (swizzle == 0) {
      at += row / 8 * stride + k % 8 * 16 + k / 8 * leading;
    } else {
      at += 2 * (row % wide) + row / wide * leading + k % 8 * pitch + k / 8 * stride;
    }
    return swizzled_address(at, swizzle);
  }
};

// Which value of which thread (row, column) of the 64 x N result is.
unsigned holder(unsigned row, unsigned column) { return row / 16 * kWarp + row % 8 * 4 + column % 8 / 2; }
unsigned place(unsigned row, unsigned column) { return column / 8 * 4 + row % 16 / 8 * 2 + column % 2; }

bool poisoned(const float* d, unsigned count) {
  return std::all_of(d, d + count, [](const float& x) { return std::bit_cast<std::uint32_t>(x) == 0xffffffffu; });
}

}  // namespace

// The accumulators that the threads gave, taken out of their hands when they are not yet.
Accumulators& Block::accumulators(Warpgroup& group, const Meeting& meeting, unsigned each) {
  for (Accumulators& d : group.accumulators) {
    if (!d.used || d.visible[0] != request(meeting, 0).d) continue;
    if (d.each != each || d.in_flight != std::array{true, true, true, true})
      fail("warpgroup_multiply on accumulators that a product of another shape still has");
    return d;
  }
  for (unsigned w = 0; w < 4; ++w) {
    if (!warps_[self().index / kWarpgroup * 4 + w].fenced)
      fail("warpgroup_multiply on new accumulators without a warpgroup_fence before it");
  }
  auto free = std::find_if(group.accumulators.begin(), group.accumulators.end(), [](auto& d) { return !d.used; });
  Accumulators& d = free == group.accumulators.end() ? group.accumulators.emplace_back() : *free;
  d.used = true, d.each = each, d.in_flight.fill(true);
  d.values.resize(std::size_t{kWarpgroup} * each);
  for (unsigned t = 0; t < kWarpgroup; ++t) {
    d.visible[t] = request(meeting, t).d;
    std::copy_n(d.visible[t], each, d.values.data() + std::size_t{t} * each);
    std::memset(d.visible[t], 0xff, sizeof(float) * each);
  }
  return d;
}

void Block::issue(const Meeting& meeting) {
  Warpgroup& group = warpgroup();
  const Request& first = request(meeting, 0);
  for (unsigned t = 1; t < kWarpgroup; ++t)
    if (!same(request(meeting, t), first)) fail("warpgroup_multiply with operands that differ between threads");
  Accumulators& d = accumulators(group, meeting, static_cast<unsigned>(first.product.columns) / 2);
  d.last = group.issued++;
  ++products_;
  group.products.push_back({.shape = first.product, .a = first.a, .b = first.b, .add = first.add, .d = &d});
}

// to[k][row] of an operand of `extent` rows; false after a fault.
bool Block::gather(std::uint64_t descriptor, const host::Product& product, bool transposed, int extent, double* to) {
  const Operand operand(descriptor, transposed);
  const auto rows = static_cast<unsigned>(extent);
  for (unsigned row = 0; row < rows; row += transposed ? 8 : 1) {
    for (unsigned k = 0; k < kDepth; k += transposed ? 1 : 8) {
      const unsigned address = operand.chunk(row, k), at = address - kWindow;
      if (address < kWindow || at + 16 > grid_->shared_bytes)
        return note(sentence("warpgroup_multiply reads 16 bytes at ", static_cast<std::int64_t>(address) - kWindow,
                             ": shared memory has ", grid_->shared_bytes)),
               false;
      if (unfenced(at))
        return note(sentence("warpgroup_multiply reads what thread ", writer(at), " stored at ", at,
                             " with no fence_for_async after it")),
               false;
      for (unsigned i = 0; i < 8; ++i) {
        std::uint16_t bits;
        std::memcpy(&bits, memory_ + at + 2 * i, 2);
        to[transposed ? k * rows + row + i : (k + i) * rows + row] = element(product.bf16, bits);
      }
    }
  }
  return true;
}

void Block::do_product(const IssuedProduct& product) {
  const int columns = product.shape.columns;
  double a[kDepth * 64], b[kDepth * 256], sums[256];
  if (!gather(product.a, product.shape, product.shape.transpose_a, 64, a)) return;
  if (!gather(product.b, product.shape, product.shape.transpose_b, columns, b)) return;
  for (unsigned row = 0; row < 64; ++row) {
    const auto value = [&](int column) -> float& {
      const auto n = static_cast<unsigned>(column);
      return product.d->values[std::size_t{holder(row, n)} * product.d->each + place(row, n)];
    };
    for (int n = 0; n < columns; ++n) sums[n] = product.add ? value(n) : 0;
    for (int k = 0; k < kDepth; ++k) {
      const double factor = a[k * 64 + static_cast<int>(row)];
      for (int n = 0; n < columns; ++n) sums[n] += factor * b[k * columns + n];
    }
    for (int n = 0; n < columns; ++n) value(n) = toward_zero(sums[n]);
  }
}

void Block::do_a_product(Warpgroup& group) {
  if (group.products.empty()) return;
  do_product(group.products.front());
  group.products.pop_front();
  ++group.done;
  --products_;
}

void Block::finish_products(unsigned cover) {
  Warpgroup& group = warpgroup();
  while (group.done < cover) do_a_product(group);
  if (!error_.empty()) throw Stopped{};
  const unsigned warp = self().index % kWarpgroup / kWarp;
  for (Accumulators& d : group.accumulators) {
    if (!d.used || !d.in_flight[warp] || d.last >= cover) continue;
    for (unsigned t = warp * kWarp; t < (warp + 1) * kWarp; ++t) {
      if (!poisoned(d.visible[t], d.each)) fail("accumulators were written while a warpgroup_multiply had them");
      std::copy_n(d.values.data() + std::size_t{t} * d.each, d.each, d.visible[t]);
    }
    d.in_flight[warp] = false;
    d.used = std::any_of(d.in_flight.begin(), d.in_flight.end(), [](bool flies) { return flies; });
  }
}

void warpgroup_fence() {
  block().meet(block().warp().meeting, kWarp, "warpgroup_fence", 0,
               [](const Meeting&) { block().warp().fenced = true; });
}

void warpgroup_commit() {
  block().meet(block().warp().meeting, kWarp, "warpgroup_commit", 0,
               [](const Meeting&) { block().warp().commits.push_back(block().warpgroup().issued); });
}

std::uint64_t descriptor(unsigned at, unsigned leading_bytes, unsigned stride_bytes, int swizzle_bytes) {
  if (at % 16 != 0 || leading_bytes % 16 != 0 || stride_bytes % 16 != 0)
    block().fail(sentence("descriptor(", at, ", ", leading_bytes, ", ", stride_bytes, "): not multiples of 16"));
  if (leading_bytes >> 18 != 0 || stride_bytes >> 18 != 0) block().fail("descriptor: steps of 256 KiB or more");
  return encode_descriptor(kWindow + at, leading_bytes, stride_bytes, swizzle_bytes);
}

namespace host {

void warpgroup_multiply(const Product& product, float* d, std::uint64_t a, std::uint64_t b, bool add) {
  const Request lane{product, d, a, b, add};
  block().meet(block().warpgroup().meeting, kWarpgroup, "warpgroup_multiply", lane,
               [](const Meeting& meeting) { block().issue(meeting); });
}

void warpgroup_wait(unsigned groups) {
  block().meet(block().warp().meeting, kWarp, "warpgroup_wait", groups, [groups](const Meeting&) {
    Warp& warp = block().warp();
    const std::size_t closed = warp.commits.size();
    block().finish_products(closed > groups ? warp.commits[closed - 1 - groups] : 0);
    warp.fenced = false;
  });
}

}  // namespace host
}  // namespace convgrad::cuda

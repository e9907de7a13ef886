// Box loads: 5-D tiles with zeros outside the tensor, element strides and swizzle, which land in any order.
#include <algorithm>

#include "support/cuda_machine/block.h"

namespace convgrad::cuda {
namespace {

bool fits_driver(const Box& box) {
  bool fits = reinterpret_cast<std::uintptr_t>(box.tensor) % 16 == 0 && box.element_strides[0] == 1;
  for (int i = 0; i < 5; ++i) {
    fits = fits && box.extents[i] > 0 && box.box[i] > 0 && box.box[i] <= 256;
    fits = fits && box.element_strides[i] > 0 && box.element_strides[i] <= 8;
    fits = fits && (i == 0 || box.byte_strides[i - 1] % 16 == 0);
  }
  return fits;
}

}  // namespace

std::string Block::box_fault(const BoxLoad& load) const {
  const Box& box = load.box;
  const int inner = box.box[0] * box.element_bytes;
  if (!fits_driver(box))
    return "a map that the driver refuses (tensor and strides in multiples of 16 bytes, box 1 to 256, element strides "
           "1 to 8 and 1 along the fastest dimension)";
  if (box.element_bytes < 1 || box.element_bytes > 8) return sentence("elements of ", box.element_bytes, " bytes");
  if (inner % 16 != 0) return sentence("a box row of ", inner, " bytes, not a multiple of 16");
  if (box.swizzle_bytes != 0 && inner != box.swizzle_bytes)
    return sentence("a box row of ", inner, " bytes with a swizzle of ", box.swizzle_bytes);
  if (load.at[0] * box.element_bytes % 16 != 0)
    return sentence("start ", load.at[0], " of the fastest dimension is not at a multiple of 16 bytes");
  std::int64_t last = (box.extents[0] - 1) * box.element_bytes;
  for (int i = 1; i < 5; ++i) last += (box.extents[i] - 1) * box.byte_strides[i - 1];
  if (!may_read(box.tensor, static_cast<std::size_t>(last + box.element_bytes)))
    return "the tensor is not within the readable memory";
  return "";
}

void Block::load_box(unsigned to, const Box& box, unsigned at_barrier, const int (&at)[5]) {
  BoxLoad load{.box = box, .at = std::to_array(at), .counts = {}, .to = to, .barrier = at_barrier, .bytes = 0};
  if (const std::string fault = box_fault(load); !fault.empty()) fail("load_box: " + fault);
  load.bytes = static_cast<unsigned>(box.element_bytes);
  for (unsigned i = 0; i < 5; ++i) {
    load.counts[i] = (box.box[i] + box.element_strides[i] - 1) / box.element_strides[i];
    load.bytes *= static_cast<unsigned>(load.counts[i]);
  }
  read(to, load.bytes, 128, "load_box");
  if (!barrier(at_barrier, "load_box").ready) fail("load_box on a barrier without barriers_ready after its init");
  poison(to, load.bytes);
  loads_.push_back(load);
  maybe_yield();
}

// A row of the box from the row of the tensor that starts at `row`; `inside`: it is in the tensor.
void Block::land_row(const BoxLoad& load, const std::byte* row, unsigned offset, bool inside) {
  const std::int64_t bytes = load.box.element_bytes, start = load.at[0];
  const auto size = static_cast<unsigned>(load.counts[0] * bytes);
  std::array<std::byte, 256 * 16> line;
  std::memset(line.data(), 0, size);
  const std::int64_t first = std::max<std::int64_t>(0, -start);
  const std::int64_t last = std::min<std::int64_t>(load.counts[0], load.box.extents[0] - start);
  if (inside && first < last)
    std::memcpy(line.data() + first * bytes, row + (start + first) * bytes,
                static_cast<std::size_t>((last - first) * bytes));
  for (unsigned i = 0; i < size; i += 16) {
    const unsigned at = swizzled_address(load.to + offset + i, load.box.swizzle_bytes);
    std::memcpy(memory_ + at, line.data() + i, 16);
    granules_[at / kGranule].thread = 0;
  }
}

void Block::land(const BoxLoad& load) {
  const Box& box = load.box;
  unsigned offset = 0;
  std::array<int, 5> i{};
  for (i[4] = 0; i[4] < load.counts[4]; ++i[4])
    for (i[3] = 0; i[3] < load.counts[3]; ++i[3])
      for (i[2] = 0; i[2] < load.counts[2]; ++i[2])
        for (i[1] = 0; i[1] < load.counts[1]; ++i[1]) {
          const std::byte* row = static_cast<const std::byte*>(box.tensor);
          bool inside = true;
          for (unsigned d = 1; d < 5 && inside; ++d) {
            const std::int64_t at = load.at[d] + std::int64_t{i[d]} * box.element_strides[d];
            inside = at >= 0 && at < box.extents[d];
            if (inside) row += at * box.byte_strides[d - 1];
          }
          land_row(load, row, offset, inside);
          offset += static_cast<unsigned>(load.counts[0] * box.element_bytes);
        }
}

bool Block::land_a_box() {
  if (loads_.empty()) return false;
  std::swap(loads_[random_.below(static_cast<unsigned>(loads_.size()))], loads_.back());
  const BoxLoad load = loads_.back();
  loads_.pop_back();
  land(load);
  Barrier* barrier = find_barrier(load.barrier);
  barrier->missing_bytes -= load.bytes;
  complete_if_done(*barrier);
  return true;
}

void load_box(unsigned to, const TensorMap& map, unsigned barrier, const int (&at)[5]) {
  block().load_box(to, *reinterpret_cast<const Box*>(map.words[0]), barrier, at);
}

}  // namespace convgrad::cuda

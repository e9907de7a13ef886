// Operands in shared memory: every element in a place of its own, and loads that do not fall on one bank.
#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "engines/cuda/kernels/list.h"

namespace convgrad::cuda {
namespace {

template <class Stage, Major major>
void has_a_place_for_every_element(int count) {
  std::set<unsigned> places;
  for (int index = 0; index < count; ++index)
    for (int term = 0; term < Stage::Terms; ++term) places.insert(Stage::template at<major>(index, term));
  EXPECT_EQ(places.size(), static_cast<std::size_t>(count * Stage::Terms));
  EXPECT_LT(*places.rbegin(), static_cast<unsigned>(Stage::template rows<major>(count) * Stage::RowBytes));
}

TEST(CudaStage, has_a_place_for_every_element) {
  for (int count : {8, 16, 32, 64, 128}) {
    has_a_place_for_every_element<Staging<F64Element>, Major::along_sum>(count);
    has_a_place_for_every_element<Staging<F64Element>, Major::across>(count);
    has_a_place_for_every_element<Staging<F32Element>, Major::along_sum>(count);
    has_a_place_for_every_element<Staging<F32Element>, Major::across>(count);
    has_a_place_for_every_element<Staging<Bf16Element>, Major::along_sum>(count);
    has_a_place_for_every_element<Staging<Bf16Element>, Major::across>(count);
    has_a_place_for_every_element<Staging<Bf16Element, 64>, Major::along_sum>(count);
    has_a_place_for_every_element<Staging<Bf16Element, 64>, Major::across>(count);
  }
}

// Passes over the banks that a warp's load takes: `at` gives each lane's offset. A pass serves 32 banks of 4 bytes; the
// same word is served to any number of lanes. Lanes go by as many as 128 bytes hold.
int passes(int bytes, const std::function<unsigned(int)>& at) {
  const int together = 128 / bytes;
  int all = 0;
  for (int first = 0; first < 32; first += together) {
    std::set<unsigned> words[32];
    for (int lane = first; lane < first + together; ++lane)
      for (int word = 0; word < bytes / 4; ++word) {
        const unsigned address = at(lane) / 4 + static_cast<unsigned>(word);
        words[address % 32].insert(address);
      }
    std::size_t most = 0;
    for (const auto& bank : words) most = std::max(most, bank.size());
    all += static_cast<int>(most);
  }
  return all;
}

template <Major major>
int f64_passes() {
  int worst = 0;
  for (int term = 0; term < 16; term += 4)
    for (int half = 0; half < 2; ++half)
      worst = std::max(worst, passes(8, [&](int lane) {
        return Staging<F64Element>::at<major>(f64_neighbour<major>(lane / 4 + 8 * half), term + lane % 4);
      }));
  return worst;
}

TEST(CudaStage, f64_fragments_load_without_bank_conflicts) {
  EXPECT_EQ(f64_passes<Major::along_sum>(), 2);  // 256 bytes
  EXPECT_EQ(f64_passes<Major::across>(), 2);
}

TEST(CudaStage, f64_fragments_are_permutations) {
  std::set<int> along, across;
  for (int i = 0; i < 16; ++i) {
    along.insert(f64_neighbour<Major::along_sum>(i));
    across.insert(f64_neighbour<Major::across>(i));
  }
  EXPECT_EQ(along.size(), 16u);
  EXPECT_EQ(across.size(), 16u);
}

// Matrices of 8 x 8 16-bit numbers: 8 lanes' rows of 16 bytes are one pass.
TEST(CudaStage, matrix_loads_have_no_bank_conflicts) {
  for (int term = 0; term < 64; term += 8) {
    EXPECT_EQ(passes(16, [&](int lane) { return Staging<Bf16Element>::at<Major::along_sum>(lane, term); }), 4);
    EXPECT_EQ(passes(16, [&](int lane) { return Staging<Bf16Element>::at<Major::across>(term, lane); }), 4);
  }
}

TEST(CudaStage, f32_loads_have_no_bank_conflicts) {
  for (int term = 0; term < 32; term += 4) {
    EXPECT_LE(passes(16, [&](int lane) {
      return Staging<F32Element>::at<Major::along_sum>(fma_index<Major::along_sum, 16>(lane % 16, 0), term);
    }), 4);
    EXPECT_LE(passes(16, [&](int lane) {
      return Staging<F32Element>::at<Major::across>(fma_index<Major::across, 16>(lane % 16, 0), term);
    }), 4);
  }
}

}  // namespace
}  // namespace convgrad::cuda

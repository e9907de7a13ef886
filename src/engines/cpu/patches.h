// Patches: for every result position all the source elements that its sum takes, in one row of bf16.
//
// Layers of few channels fill steps of 32 terms badly tap by tap; as patches, 3 channels x 7 x 7 taps are 147 of 160
// terms. A patch is made of lines, a row of taps each: all channels where they are neighbours, else one channel.
//
//   channels last    term (tap row, tap, channel)
//   channels first   term (channel, tap row, tap)
//
// Taps of the last axis stand in the order in which their sources rise. Padding is zeros, which must not meet an
// infinite filter: whoever has one computes without patches.
#pragma once

#include "engines/cpu/gather_program.h"

namespace convgrad::cpu {

// Whether rows of taps are neighbours in the source, and long enough: 16 planes of 5x5x5 taps, in lines of 5, took
// three times as long as tap by tap.
bool has_lines(const GatherProgram& p);
std::int64_t line_count(const GatherProgram& p);
std::int64_t patch_terms(const GatherProgram& p);
// Whether some patch has zeros for padding.
bool needs_exact(const GatherProgram& p);

// Elements that copies of whole vectors write behind the last patch.
constexpr std::int64_t kPatchSlack = 8;

struct PatchArgs {
  const std::uint16_t* source;  // the tensor
  const std::uint16_t** lines;  // line_count(p) of the caller's memory
  std::uint16_t* to;            // filled_k(p) elements a position, then kPatchSlack
};
void bring_patches(const GatherProgram& p, const Box& region, const PatchArgs& args);

// The filter in pair form (kernels/pairs), vectors of 16 result channels `vector` elements apart.
void pack_patch_filter(const GatherProgram& p, const std::uint16_t* filter, std::uint16_t* panel, std::int64_t vector);

}  // namespace convgrad::cpu

// The tables of the target this file's flags name. Included by kernels/isa_<name>.cc alone.
#pragma once

#include "engines/cpu/kernels/copy/generic.h"
#include "engines/cpu/kernels/dot/generic.h"
#include "engines/cpu/kernels/kernels.h"
#include "engines/cpu/kernels/sums/generic.h"
#include "engines/cpu/kernels/tile/generic.h"

namespace convgrad::cpu::HWY_NAMESPACE {
namespace {

template <class T>
KernelSet<T> kernel_set(void (*expand)(const ExpandArgs<T>&)) {
  return {tile_table<T>(), dot_table<T>(), sum_table<T>(), expand};
}

Kernels kernel_tables(std::string_view isa) {
  const CopyTable copy = copy_table();
  return {isa, kernel_set<float>(copy.expand_f32), kernel_set<double>(copy.expand_f64),
          kernel_set<std::uint32_t>(copy.expand_u32), copy};
}

}  // namespace
}  // namespace convgrad::cpu::HWY_NAMESPACE

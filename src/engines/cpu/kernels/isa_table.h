// The tables of the target this file's flags name. Included by kernels/isa_<name>.cc alone.
#pragma once

#include <hwy/cache_control.h>

#include "engines/cpu/kernels/copy/generic.h"
#include "engines/cpu/kernels/dot/generic.h"
#include "engines/cpu/kernels/kernels.h"
#include "engines/cpu/kernels/pack/generic.h"
#include "engines/cpu/kernels/sums/generic.h"
#include "engines/cpu/kernels/tile/generic.h"

namespace convgrad::cpu::HWY_NAMESPACE {
namespace {

template <class T>
KernelSet<T> kernel_set() {
  return {tile_table<T>(), dot_table<T>(), sum_table<T>(), expand<T>};
}

Kernels kernel_tables(std::string_view isa) {
  return {isa,          kFusesMultiplyAdd, kernel_set<float>(),       kernel_set<double>(), kernel_set<std::uint32_t>(),
          copy_table(), pack_table(),      [] { hwy::FlushStream(); }};
}

}  // namespace
}  // namespace convgrad::cpu::HWY_NAMESPACE

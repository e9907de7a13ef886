// What this machine can do at best, measured: the figures that a benchmark's rows are compared with.
#pragma once

#include "convgrad/dtype.h"

namespace convgrad::cli {

struct Peaks {
  double f32_gflops = 0;  // fused multiply-adds of one core, each counted as two
  double f64_gflops = 0;
  double copy_gbytes = 0;  // a second, read and written bytes both counted, with the threads asked for

  // Of one core; 16-bit floats are held against f32.
  double gflops(DType dtype) const { return dtype == DType::f64 ? f64_gflops : f32_gflops; }
};

// About a third of a second.
Peaks measure_peaks(int threads);

}  // namespace convgrad::cli

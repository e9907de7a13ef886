// Time for benchmarks: of one thread by the processor, so that what others run on a shared core does not count; of
// several by the wall clock, since waiting for each other does.
#pragma once

#include <ctime>

namespace convgrad::cli {

class Stopwatch {
 public:
  explicit Stopwatch(int threads)
      : clock_(threads == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC), start_(seconds_now()) {}
  double seconds() const { return seconds_now() - start_; }

 private:
  double seconds_now() const {
    std::timespec now{};
    clock_gettime(clock_, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
  }
  clockid_t clock_;
  double start_;
};

}  // namespace convgrad::cli

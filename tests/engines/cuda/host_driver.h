// A driver for tests: the functions of driver.inc over ordinary memory, kernels run by the host machine. A shared
// library, which CONVGRAD_CUDA_DRIVER names; its function convgrad_host_driver() gives the switches below, its
// functions convgrad_host_*() those that Python's tests want.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace convgrad::test {

struct HostDriver {
  // What it plays.
  int devices = 1;
  int major = 9, minor = 0;
  int memory_pools = 1;
  bool capturing = false;  // a stream of the calling thread is captured: what a capture forbids fails
  std::uint64_t seed = 1;  // of the order in which threads run

  // The call of `fail` that fails, counted down to 0; then `failed`.
  std::string fail = {};
  int countdown = 0;
  int error = 999;
  bool failed = false;

  // What it saw.
  std::map<std::string, int> calls = {};
  std::size_t buffers = 0;     // that are taken and not given back
  std::size_t streams = 0;     // the same
  std::size_t events = 0;      // the same
  std::size_t contexts = 0;    // pushed and not popped
  std::size_t overruns = 0;    // buffers whose rim was written to
  std::string complaint = {};  // of the host machine
  void* stream = nullptr;      // of the last launch
};

using HostDriverFunction = HostDriver* (*)();

}  // namespace convgrad::test

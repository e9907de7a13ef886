// CPU name, features and core count, read at run time.
#include "convgrad/system.h"

#include <sched.h>

#include <fstream>
#include <limits>
#include <thread>

#include "base/machine.h"
#include "convgrad/version.h"

namespace convgrad {
namespace {

std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::vector<std::string> cpu_features() {
  std::vector<std::string> found;
#if defined(__x86_64__)
#define CONVGRAD_FEATURE(name) \
  if (__builtin_cpu_supports(name)) found.emplace_back(name);
  CONVGRAD_FEATURE("sse4.2")
  CONVGRAD_FEATURE("avx")
  CONVGRAD_FEATURE("avx2")
  CONVGRAD_FEATURE("fma")
  CONVGRAD_FEATURE("avx512f")
  CONVGRAD_FEATURE("avx512bw")
  CONVGRAD_FEATURE("avx512dq")
  CONVGRAD_FEATURE("avx512vl")
  CONVGRAD_FEATURE("avx512vnni")
  CONVGRAD_FEATURE("avx512bf16")
#undef CONVGRAD_FEATURE
#endif
  return found;
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) {
    if (const int count = CPU_COUNT(&set); count > 0) return count;
  }
  const unsigned count = std::thread::hardware_concurrency();
  return count > 0 ? static_cast<int>(count) : 1;
}

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::int64_t kilobytes = 0;
  while (file >> word) {
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  return std::numeric_limits<std::int64_t>::max();
}

SystemInfo system_info() {
  return {.cpu = cpu_name(),
          .features = cpu_features(),
          .cores = usable_cores(),
          .version = CONVGRAD_VERSION_STRING,
#if defined(__clang__)
          .compiler = "clang " __clang_version__
#else
          .compiler = "gcc " __VERSION__
#endif
  };
}

}  // namespace convgrad

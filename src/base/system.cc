// CPU name, features and core count, read at run time.
#include "convgrad/system.h"

#include <sched.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <cstdint>
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
#elif defined(__aarch64__)
  found.emplace_back("neon");  // part of every 64-bit Arm CPU
#endif
  if (amx_bf16_usable()) found.emplace_back("amx_bf16");
  return found;
}

#if defined(__x86_64__)
// The CPU has the instructions, and the system saves the tiles (XCR0 bits 17 and 18). Not asked: CPUID leaf 1DH,
// which would state the tiles' size; hypervisors hide it where AMX works, and only one palette exists.
bool cpu_and_system_have_amx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kSavesStates = 1u << 27, kAmxBf16 = 1u << 22, kAmxTile = 1u << 24;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSavesStates) == 0) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kAmxBf16) == 0 || (d & kAmxTile) == 0) return false;
  std::uint32_t low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr std::uint32_t kTileStates = 3u << 17;
  return (low & kTileStates) == kTileStates;
}

// Linux gives the 8 KB of tile state to those who ask: arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA), for all
// threads of the process.
bool tiles_permitted() { return syscall(SYS_arch_prctl, 0x1023, 18) == 0; }
#endif

}  // namespace

bool amx_bf16_usable() {
#if defined(__x86_64__)
  static const bool usable = cpu_and_system_have_amx() && tiles_permitted();
  return usable;
#else
  return false;
#endif
}

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

// What this machine is, as the library sees it; `convgrad doctor` prints it.
#ifndef CONVGRAD_SYSTEM_H_
#define CONVGRAD_SYSTEM_H_

#include <string>
#include <vector>

#include "convgrad/export.h"

namespace convgrad {

struct SystemInfo {
  std::string cpu;                    // the maker's name for it
  std::vector<std::string> features;  // instruction sets found at run time, e.g. "avx2"
  int cores = 1;                      // cores this process may use
  std::string version;                // of the library
  std::string compiler;
};
CONVGRAD_API SystemInfo system_info();

// The instruction set the CPU engine uses: the best this CPU has, or the one that the environment variable
// CONVGRAD_ISA named when it was first asked ("amx" and "avx512bf16" are for bf16, beside AVX-512). Empty when
// CONVGRAD_ISA names none that can run here.
CONVGRAD_API std::string cpu_isa();

}  // namespace convgrad

#endif  // CONVGRAD_SYSTEM_H_

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

}  // namespace convgrad

#endif  // CONVGRAD_SYSTEM_H_

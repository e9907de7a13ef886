// The rows of engines.inc as a table.
#include "engines/engine.h"

namespace convgrad {

#define CONVGRAD_ENGINE(name) Engine engine_##name();
#include "engines/engines.inc"
#undef CONVGRAD_ENGINE

std::span<const Engine> engines() {
  static const Engine rows[] = {
#define CONVGRAD_ENGINE(name) engine_##name(),
#include "engines/engines.inc"
#undef CONVGRAD_ENGINE
  };
  return rows;
}

}  // namespace convgrad

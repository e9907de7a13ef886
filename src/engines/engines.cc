// The rows of engines.inc as a table, and the refusal of tensors that none of an engine's kernels may touch.
#include "base/rules.h"
#include "base/text.h"
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

Status wrong_place(std::string_view argument, const Place& got, const Place& wanted) {
  const auto text = [](const Place& place) {
    return place.memory == Memory::host ? std::string("memory of the host") : concat("memory of GPU ", place.device);
  };
  return refuse("run", {.rule = Rule::device,
                        .argument = argument,
                        .reason = concat(argument, " does not lie where the other tensors do"),
                        .got = text(got),
                        .wanted = text(wanted)});
}

}  // namespace convgrad

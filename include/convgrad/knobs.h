// Knobs: numbers by which a plan's work is cut, for one problem on one machine. `convgrad tune` finds them.
//
//   convgrad::make_plan(problem, {.knobs = convgrad::Knobs{.most_region = 512}});
#ifndef CONVGRAD_KNOBS_H_
#define CONVGRAD_KNOBS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "convgrad/export.h"

namespace convgrad {

// 0: the engine's own number.
struct Knobs {
#define CONVGRAD_KNOB(name, ...) std::int64_t name = 0;
#include "convgrad/knobs.inc"
#undef CONVGRAD_KNOB
  friend bool operator==(const Knobs&, const Knobs&) = default;
};

struct KnobInfo {
  std::string_view name;
  std::int64_t Knobs::* field;
  std::int64_t least, most;
  bool keeps_bits;  // results are the same to the last bit whatever its value
  std::string_view meaning;
  std::span<const std::int64_t> tries;  // values worth timing
};
CONVGRAD_API std::span<const KnobInfo> all_knobs();

// "most_region=512 units=8": those that are not 0, joined by spaces.
CONVGRAD_API std::string to_text(const Knobs& knobs);

}  // namespace convgrad

#endif  // CONVGRAD_KNOBS_H_

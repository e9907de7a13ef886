// The rows of math_modes.inc by number and by name.
#include "base/math_mode.h"

#include <algorithm>

#include "base/rules.h"
#include "base/text.h"

namespace convgrad {
namespace {

constexpr MathInfo kModes[] = {
#define CONVGRAD_MATH(name, product_error, meaning) {MathMode::name, #name, product_error, meaning},
#include "convgrad/math_modes.inc"
#undef CONVGRAD_MATH
};

Status refuse_math(std::string got) {
  std::string names;
  for (const MathInfo& row : kModes) names += concat(names.empty() ? "" : ", ", row.name);
  return refuse("policy", {.rule = Rule::policy,
                           .argument = "math",
                           .reason = "there is no such math mode",
                           .got = std::move(got),
                           .wanted = concat("one of: ", names)});
}

}  // namespace

std::span<const MathInfo> all_math() { return kModes; }

const MathInfo& info(MathMode math) { return kModes[static_cast<std::size_t>(math)]; }

Result<MathMode> math_from_name(std::string_view name) {
  const auto* const row = std::ranges::find(kModes, name, &MathInfo::name);
  if (row == std::end(kModes)) return refuse_math(concat("\"", beginning(name, 40), "\""));
  return row->math;
}

Status math_in_range(MathMode math) {
  const bool known = std::ranges::find(kModes, math, &MathInfo::math) != std::end(kModes);
  return known ? Status() : refuse_math(concat(static_cast<int>(math)));
}

}  // namespace convgrad

// Math modes from numbers of any origin.
#pragma once

#include "convgrad/math_mode.h"

namespace convgrad {

// Refuses numbers that no row of math_modes.inc has.
Status math_in_range(MathMode math);

}  // namespace convgrad

// Knobs from text, and their ranges.
#pragma once

#include "convgrad/knobs.h"
#include "convgrad/status.h"

namespace convgrad {

// What to_text() gives. Refuses names that are no knob's, and numbers out of a knob's range.
Result<Knobs> parse_knobs(std::string_view text);

// Refuses numbers out of a knob's range, 0 aside.
Status knobs_in_range(const Knobs& knobs);

}  // namespace convgrad

// The window formula of one spatial dimension.
#pragma once

#include "base/text.h"
#include "convgrad/problem.h"

namespace convgrad {

struct WindowIn {
  std::int64_t in, filter, stride, dilation;
  PaddingKind padding;
  PadPair pads;  // read only for explicit_pairs
};

// All three may be out of 64-bit range for hostile input; the caller checks.
struct Window {
  Wide reach;  // (filter - 1) * dilation + 1: cells from a filter's first tap to its last
  Wide out;    // negative when the window does not fit
  Wide before, after;
};

// VALID and EXPLICIT: out = (in + before + after - reach + stride) / stride
// SAME:               out = (in + stride - 1) / stride, and the zeros that takes, the odd one after
// Division truncates toward zero, as TensorFlow's does: a window that overhangs by less than a
// stride gives 0, not an error. stride >= 1 and dilation >= 1 are the caller's to check.
Window window(const WindowIn& w);

}  // namespace convgrad

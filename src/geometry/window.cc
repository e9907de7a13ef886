#include "geometry/window.h"

#include <algorithm>

namespace convgrad {

Window window(const WindowIn& w) {
  const Wide reach = (Wide{w.filter} - 1) * w.dilation + 1;
  if (w.padding == PaddingKind::same) {
    const Wide out = (Wide{w.in} + w.stride - 1) / w.stride;
    const Wide total = std::max(Wide{0}, (out - 1) * w.stride + reach - w.in);
    return {reach, out, total / 2, total - total / 2};
  }
  const PadPair pads = w.padding == PaddingKind::valid ? PadPair{0, 0} : w.pads;
  const Wide padded = Wide{w.in} + pads.first + pads.second;
  return {reach, (padded - reach + w.stride) / w.stride, pads.first, pads.second};
}

}  // namespace convgrad

// Depthwise ops as the grouped 2-D ops that they are.
#pragma once

#include <array>

#include "convgrad/geometry.h"

namespace convgrad {

// A depthwise call with its filter as [height, width, 1, channels * multiplier], which the call points into.
class GroupedCall {
 public:
  explicit GroupedCall(const ConvCall& depthwise);
  GroupedCall(const GroupedCall&) = delete;

  const ConvCall& call() const { return call_; }

 private:
  std::array<std::int64_t, 4> filter_{};
  ConvCall call_;
};

// "DepthwiseConv2dNativeBackpropFilter", ...
std::string_view depthwise_name(Direction direction);

// What only depthwise ops ask: the filter's channels are all of the input's (fewer would mean larger groups), and the
// input's four sizes are stated.
Status depthwise_channels(const ConvCall& call);

}  // namespace convgrad

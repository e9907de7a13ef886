// Layers of few input channels: taps folded into the channels, so that rows of shared memory and columns of tiles are
// not mostly empty.
#pragma once

#include <optional>
#include <string>

#include "convgrad/geometry.h"
#include "engines/cuda/kernels/args.h"

namespace convgrad::cuda {

// A convolution in two steps. With the innermost axes folded, and u their taps,
//
//   x'[n, o, (u, c)] = x[n, o * stride - pad + u * dilation, c], zero outside    (taps)
//   y = x' convolved with the same filter, its memory seen as [other taps][(u, c)][k]    (product)
//
// The axes that are folded belong to `taps`, the others to `product`; where an axis does not belong, it has one tap,
// and is as long as the image between the two.
struct Fold {
  Geometry taps, product;
};

// None: the problem is better left as it is. Input gradients fold the result, the others x.
std::optional<Fold> folded(const Geometry& geometry, bool hopper);
bool folds_result(const Geometry& geometry);

// What kernels are told of the taps in a field's channels.
FoldedTaps folded_taps(const Fold& fold);
// Of the image between the two steps, channels last.
FoldArgs folding(const Fold& fold);
UnfoldArgs unfolding(const Fold& fold);
// "taps of h and w folded into 27 channels"
std::string text_of(const Fold& fold);

}  // namespace convgrad::cuda

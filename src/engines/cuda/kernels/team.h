// The threads of kernels without tiles.
#pragma once

#include "engines/cuda/atoms/marks.h"

namespace convgrad::cuda {

// 256 threads: neighbours have neighbouring channels, or, where Planar, neighbouring pixels of one channel.
template <bool Planar>
struct Team {
  static constexpr int Threads = 256;
  static constexpr int Channels = Planar ? 8 : 32, Rows = Threads / Channels;
  static CONVGRAD_BOTH int channel(int thread) { return Planar ? thread / Rows : thread % Channels; }
  static CONVGRAD_BOTH int row(int thread) { return Planar ? thread % Rows : thread / Channels; }
};

inline int team_channels(bool planar) { return planar ? Team<true>::Channels : Team<false>::Channels; }
inline int team_rows(bool planar) { return planar ? Team<true>::Rows : Team<false>::Rows; }

}  // namespace convgrad::cuda

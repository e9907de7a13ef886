// Tensors as the copy engine can read them: channels last, whole pieces of 16 bytes, f32 in planes.
#pragma once

#include "engines/cuda/kernels/args.h"
#include "engines/cuda/kernels/elements.h"

namespace convgrad::cuda {

// How an element is read and what it becomes: 16-bit ones are moved, f32 is split.
template <class Element>
struct Repacked {
  using From = std::uint16_t;
  static constexpr int Planes = 1;
  static CONVGRAD_BOTH void split(From v, std::uint16_t (&plane)[Planes]) { plane[0] = v; }
};
template <>
struct Repacked<PlanesElement> : PlanesElement {
  using From = float;
};

// A block moves kRepackSide pixels x kRepackSide channels of an image through shared memory: read along what is
// contiguous there (pixels where Planar), written along channels.
inline constexpr int kRepackSide = 64;

template <class Element, bool Planar>
class Repack {
 public:
  using Args = RepackArgs;
  using From = typename Repacked<Element>::From;
  static constexpr int Threads = 256;
  static constexpr int Side = kRepackSide, Pitch = Side + 1;
  static constexpr unsigned kSharedBytes = Side * Pitch * sizeof(From);

  static CONVGRAD_DEVICE void run(const RepackArgs& args) {
    const std::int64_t channel_tiles = (args.padded + Side - 1) / Side, pixel_tiles = (args.pixels + Side - 1) / Side;
    const std::int64_t tile = block_index(), channel0 = tile % channel_tiles * Side;
    const std::int64_t pixel0 = tile / channel_tiles % pixel_tiles * Side, image = tile / channel_tiles / pixel_tiles;
    const auto* from = static_cast<const From*>(args.from) + image * args.image_stride;
    for (int i = thread_index(); i < Side * Side; i += Threads) {
      const int pixel = Planar ? i % Side : i / Side, channel = Planar ? i / Side : i % Side;
      const std::int64_t p = pixel0 + pixel, c = channel0 + channel;
      const bool there = p < args.pixels && c < args.channels;
      held(pixel, channel) = there ? from[p * args.pixel_stride + c * args.channel_stride] : From{};
    }
    sync_block();
    for (int i = thread_index(); i < Side * Side; i += Threads) {
      const std::int64_t p = pixel0 + i / Side, c = channel0 + i % Side;
      if (p < args.pixels && c < args.padded)
        write(args, (image * args.pixels + p) * args.padded + c, held(i / Side, i % Side));
    }
  }

 private:
  static CONVGRAD_DEVICE void write(const RepackArgs& args, std::int64_t at, From v) {
    std::uint16_t planes[Repacked<Element>::Planes];
    Repacked<Element>::split(v, planes);
    for (int i = 0; i < Repacked<Element>::Planes; ++i)
      if (i < args.planes) static_cast<std::uint16_t*>(args.to)[at + i * args.plane] = planes[i];
  }
  static CONVGRAD_DEVICE From& held(int pixel, int channel) {
    return shared<From>(static_cast<unsigned>(pixel * Pitch + channel) * sizeof(From));
  }
};

}  // namespace convgrad::cuda

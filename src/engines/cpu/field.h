// An image tensor where kernels can read or write it: channels side by side, in the accumulator's type.
// Either the tensor itself, or a box of it in the workspace (staged), converted and transposed on the way.
#pragma once

#include <algorithm>

#include "engines/cpu/kernels/copy/copy.h"
#include "engines/cpu/layer.h"

namespace convgrad::cpu {

constexpr std::int64_t kAlign = 16;  // staged rows start on a cache line in f32

// Positions begin <= p < end on every axis.
struct Box {
  Position begin{}, end{};

  std::int64_t extent(std::size_t axis) const { return end[axis] - begin[axis]; }
  std::int64_t positions() const {
    std::int64_t count = 1;
    for (std::size_t a = 0; a < kAxes; ++a) count *= end[a] > begin[a] ? extent(a) : 0;
    return count;
  }
};

// The extents of an even part of `all` with at most `budget` positions (at least one): whole rows first,
// then whole planes, and so on.
inline Position part_of_at_most(const Position& all, std::int64_t budget) {
  Position part{};
  for (std::size_t a = kAxes; a-- > 0;) {
    const std::int64_t pieces = ceil_div(all[a], budget);
    part[a] = pieces > 1 ? ceil_div(all[a], pieces) : std::max<std::int64_t>(1, all[a]);
    budget = std::max<std::int64_t>(1, budget / part[a]);
  }
  return part;
}

// Part number `index` of a box cut into parts of the given extents, the last axis fastest.
inline Box part_number(std::int64_t index, const Box& box, const Position& part) {
  Box one;
  for (std::size_t a = kAxes; a-- > 0;) {
    const std::int64_t pieces = ceil_div(box.extent(a), part[a]);
    one.begin[a] = box.begin[a] + index % pieces * part[a];
    one.end[a] = std::min(box.end[a], one.begin[a] + part[a]);
    index /= pieces;
  }
  return one;
}

template <class Visit>
void for_each_part(const Box& box, const Position& part, const Visit& visit) {
  std::int64_t count = 1;
  for (std::size_t a = 0; a < kAxes; ++a) count *= ceil_div(box.extent(a), part[a]);
  for (std::int64_t i = 0; i < count; ++i) visit(part_number(i, box, part));
}

// Element (p, c) lies at base[offset(p) + c * channel].
template <class T>
struct Field {
  T* base = nullptr;
  std::int64_t origin = 0;
  Position step{};
  std::int64_t channel = 1;

  std::int64_t offset(const Position& p) const {
    std::int64_t at = origin;
    for (std::size_t a = 0; a < kAxes; ++a) at += p[a] * step[a];
    return at;
  }
};

// How a tensor lies in memory: of any element type and either layout.
struct Image {
  DType dtype;
  Position step;              // elements
  std::int64_t channel_step;  // elements
  std::int64_t origin;        // element of position 0, channel 0
  std::int64_t patch_planes;  // as a layer's; only ever written
};

inline Image input_image(const Layer& l, DType dtype) {
  return {dtype,
          {l.axes[0].in_step, l.axes[1].in_step, l.axes[2].in_step, l.axes[3].in_step},
          l.in_channel_step,
          l.in_origin,
          l.patch_planes};
}
inline Image output_image(const Layer& l, DType dtype) {
  return {dtype,
          {l.axes[0].out_step, l.axes[1].out_step, l.axes[2].out_step, l.axes[3].out_step},
          l.out_channel_step,
          0,
          0};
}

inline bool converts(const Image& image) { return image.dtype == DType::f16 || image.dtype == DType::bf16; }

// Whether kernels can use the tensor as it is.
inline bool direct(const Image& image) { return image.channel_step == 1 && !converts(image); }

// The workspace copy of a box: positions in order, `pitch` elements from one to the next.
template <class T>
Field<T> staged_field(T* memory, const Box& box, std::int64_t pitch) {
  Field<T> field;
  field.base = memory;
  std::int64_t step = pitch;
  for (std::size_t a = kAxes; a-- > 0;) {
    field.step[a] = step;
    field.origin -= box.begin[a] * step;
    step *= box.extent(a);
  }
  return field;
}

// From one plane of a planar copy to the next: an odd number of cache lines, so that planes spread over the cache.
inline std::int64_t plane_pitch(std::int64_t positions) {
  const std::int64_t rounded = round_up(positions, kAlign);
  return rounded / kAlign % 2 == 0 ? rounded + kAlign : rounded;
}

// The same with the positions of a channel side by side.
template <class T>
Field<T> planar_field(T* memory, const Box& box, std::int64_t pitch) {
  Field<T> field = staged_field(memory, box, 1);
  field.channel = pitch;
  return field;
}

// Channels [channel, channel + count) of a box, between the tensor and its staged copy.
struct Transfer {
  const Image& image;
  const Box& box;
  std::int64_t channel, count;
};

// Calls row(p) for the first position of every row of the box.
template <class Row>
void for_each_row(const Box& box, const Row& row) {
  if (box.positions() == 0) return;
  Position p = box.begin;
  for (p[0] = box.begin[0]; p[0] < box.end[0]; ++p[0])
    for (p[1] = box.begin[1]; p[1] < box.end[1]; ++p[1])
      for (p[2] = box.begin[2]; p[2] < box.end[2]; ++p[2]) row(p);
}

inline std::int64_t element(const Transfer& t, const Position& p) {
  std::int64_t at = t.image.origin + channel_offset(t.channel, t.image.channel_step, t.image.patch_planes);
  for (std::size_t a = 0; a < kAxes; ++a) at += p[a] * t.image.step[a];
  return at;
}

// Calls visit(p, length) for stretches of `length` positions from p on whose neighbours lie equally far apart
// on both sides: whole rows where they touch, planes where those touch.
template <class T, class Visit>
void for_each_stretch(const Transfer& t, const Field<T>& field, const Visit& visit) {
  if (t.box.positions() == 0) return;
  std::size_t axis = 3;
  std::int64_t length = t.box.extent(3);
  while (axis > 0 && t.image.step[axis - 1] == length * t.image.step[3] &&
         field.step[axis - 1] == length * field.step[3]) {
    length *= t.box.extent(--axis);
  }
  Box firsts = t.box;
  for (std::size_t a = axis; a < kAxes; ++a) firsts.end[a] = firsts.begin[a] + 1;
  for_each_row(firsts, [&](const Position& p) { visit(p, length); });
}

template <class T>
void stage_in(const CopyTable& copy, const void* tensor, const Transfer& t, const Field<T>& field) {
  const auto bytes = static_cast<std::int64_t>(size_of(t.image.dtype));
  for_each_stretch(t, field, [&](const Position& p, std::int64_t length) {
    copy.in[static_cast<int>(t.image.dtype)]({static_cast<const char*>(tensor) + element(t, p) * bytes, t.image.step[3],
                                              t.image.channel_step, field.base + field.offset(p), field.step[3],
                                              field.channel, length, t.count});
  });
}

// Channels of a transfer that lie equally far apart in the tensor: all, or those of one plane of patches.
struct ChannelLine {
  std::int64_t first, every, count;  // of the transfer's channels
  std::int64_t element, step;        // in the tensor, from the element of the transfer's first channel
};
template <class Visit>
void for_each_line(const Transfer& t, const Visit& visit) {
  const std::int64_t planes = t.image.patch_planes;
  if (planes == 0) return visit(ChannelLine{0, 1, t.count, 0, t.image.channel_step});
  const auto offset = [&](std::int64_t c) { return channel_offset(t.channel + c, t.image.channel_step, planes); };
  for (std::int64_t first = 0; first < std::min(planes, t.count); ++first) {
    visit(ChannelLine{first, planes, ceil_div(t.count - first, planes), offset(first) - offset(0), 1});
  }
}

template <class T>
void stage_out(const CopyTable& copy, const Field<T>& field, const Transfer& t, void* tensor) {
  const auto bytes = static_cast<std::int64_t>(size_of(t.image.dtype));
  for_each_line(t, [&](const ChannelLine& line) {
    for_each_stretch(t, field, [&](const Position& p, std::int64_t length) {
      const T* from = field.base + field.offset(p) + line.first * field.channel;
      char* to = static_cast<char*>(tensor) + (element(t, p) + line.element) * bytes;
      copy.out[static_cast<int>(t.image.dtype)](
          {from, field.step[3], line.every * field.channel, to, t.image.step[3], line.step, length, line.count});
    });
  });
}

// The tensor itself as a field, its first channel `channel`.
template <class T>
Field<T> direct_field(const void* tensor, const Image& image, std::int64_t channel) {
  return {static_cast<T*>(const_cast<void*>(tensor)), image.origin + channel * image.channel_step, image.step,
          image.channel_step};
}

// Lanes of many groups: lane c stands for channel first + c, whose group of `to` channels reads a group of
// `from` channels; channel 0 of the source field is channel `source`.
struct Spreading {
  std::int64_t from, to;
  std::int64_t first, count;
  std::int64_t source;
};

// Plane e of the spread field holds, for every lane, channel e of the group it reads; planes lie
// box.positions() * pitch apart. `index` has room for `count` numbers.
template <class T>
Field<T> spread_channels(void (*expand)(const ExpandArgs<T>&), const Field<T>& narrow, const Box& box,
                         const Spreading& s, T* memory, std::int32_t* index) {
  const std::int64_t pitch = round_up(s.count, kAlign);
  const Field<T> wide = staged_field(memory, box, pitch);
  const std::int64_t within = s.from == s.to && s.first % s.to == 0 ? s.to : 0;
  for (std::int64_t e = 0; e < s.from; ++e) {
    for (std::int64_t c = 0; c < s.count; ++c)
      index[c] = static_cast<std::int32_t>((s.first + c) / s.to * s.from + e - s.source);
    for_each_row(box, [&](const Position& at) {
      expand({narrow.base + narrow.offset(at), narrow.step[3],
              wide.base + wide.offset(at) + e * box.positions() * pitch, wide.step[3], box.extent(3), s.count, index,
              within});
    });
  }
  return wide;
}

}  // namespace convgrad::cpu

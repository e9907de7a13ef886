// With i(o, t) = o * stride - pad_before + t * dilation, a term of every direction is a triple (t, o, i) a dimension
// that lies inside, and one number beside them: the channel that is summed over, or the image. The triples of the three
// dimensions are independent, so the terms are a product of short lists, and any of them is found by its number.
#include "convgrad/terms.h"

#include <algorithm>
#include <array>

#include "base/rules.h"
#include "base/text.h"
#include "geometry/shapes.h"

namespace convgrad {
namespace {

struct Meeting {
  std::int64_t tap, out, in;
};
using Meetings = std::array<std::vector<Meeting>, 3>;

// An element of images, or of the filter with c as the channel inside its group and n as the output channel.
struct Place {
  std::int64_t n = 0, c = 0;
  Extents at{};
};

class Cell {
 public:
  Cell(const Geometry& geometry, std::int64_t result) : g_(geometry), place_(place_of(result)) {
    for (std::size_t dim = 0; dim < 3; ++dim) meet(dim);
  }

  std::int64_t total() const { return beside() * count(0) * count(1) * count(2); }
  std::int64_t possible() const {
    std::int64_t all = beside();
    for (std::size_t dim = 0; dim < 3; ++dim) all *= sums_taps() ? g_.filter[dim] : g_.out[dim];
    return all;
  }

  Term term(std::int64_t number) const {
    const auto take = [&number](std::int64_t size) {
      const std::int64_t digit = number % size;
      number /= size;
      return digit;
    };
    const std::int64_t channel = sums_taps() ? take(beside()) : 0;
    std::array<const Meeting*, 3> met{};
    for (std::size_t dim = 3; dim-- > 0;) met[dim] = &meetings_[dim][static_cast<std::size_t>(take(count(dim)))];
    const std::int64_t image = sums_taps() ? place_.n : number;
    const auto extents = [&](std::int64_t Meeting::* field) {
      return Extents{met[0]->*field, met[1]->*field, met[2]->*field};
    };
    return made({extents(&Meeting::tap), extents(&Meeting::out), extents(&Meeting::in)}, channel, image);
  }

 private:
  struct Met {
    Extents tap, out, in;
  };

  bool sums_taps() const { return g_.direction == Direction::forward || g_.direction == Direction::input_grad; }
  std::int64_t count(std::size_t dim) const { return static_cast<std::int64_t>(meetings_[dim].size()); }
  // Channels that are summed over, or images.
  std::int64_t beside() const {
    if (!sums_taps()) return g_.n;
    return g_.direction == Direction::forward ? g_.group_c_in() : g_.group_c_out();
  }

  Place place_of(std::int64_t result) const {
    switch (g_.direction) {
      case Direction::forward: return image_place(g_.c_out, g_.out, result);
      case Direction::input_grad: return image_place(g_.c_in, g_.in, result);
      case Direction::bias_grad: return {.n = result};
      case Direction::filter_grad: break;
    }
    Place place{.n = result % g_.c_out, .c = result / g_.c_out % g_.group_c_in()};
    std::int64_t tap = result / g_.c_out / g_.group_c_in();
    for (std::size_t dim = 3; dim-- > 0; tap /= g_.filter[dim]) place.at[dim] = tap % g_.filter[dim];
    return place;
  }

  Place image_place(std::int64_t channels, const Extents& sizes, std::int64_t at) const {
    Place place;
    const auto take = [&at](std::int64_t size) {
      const std::int64_t digit = at % size;
      at /= size;
      return digit;
    };
    if (g_.layout == Layout::channels_last) place.c = take(channels);
    for (std::size_t dim = 3; dim-- > 0;) place.at[dim] = take(sizes[dim]);
    if (g_.layout == Layout::channels_first) place.c = take(channels);
    place.n = at;
    return place;
  }

  std::int64_t image_at(std::int64_t channels, const Extents& sizes, const Place& place) const {
    std::int64_t at = place.n;
    if (g_.layout == Layout::channels_first) at = at * channels + place.c;
    for (std::size_t dim = 0; dim < 3; ++dim) at = at * sizes[dim] + place.at[dim];
    return g_.layout == Layout::channels_last ? at * channels + place.c : at;
  }

  std::int64_t filter_at(const Extents& tap, std::int64_t c_in, std::int64_t c_out) const {
    const std::int64_t flat = (tap[0] * g_.filter[1] + tap[1]) * g_.filter[2] + tap[2];
    return (flat * g_.group_c_in() + c_in) * g_.c_out + c_out;
  }

  void meet(std::size_t dim) {
    const std::int64_t here = place_.at[dim];
    const auto source = [&](std::int64_t o, std::int64_t t) {
      return o * g_.stride[dim] - g_.pad_before[dim] + t * g_.dilation[dim];
    };
    const auto keep = [&](const Meeting& met) {
      if (met.in >= 0 && met.in < g_.in[dim]) meetings_[dim].push_back(met);
    };
    switch (g_.direction) {
      case Direction::forward:
        for (std::int64_t t = 0; t < g_.filter[dim]; ++t) keep({t, here, source(here, t)});
        break;
      case Direction::input_grad:
        for (std::int64_t t = 0; t < g_.filter[dim]; ++t) {
          const std::int64_t shifted = here + g_.pad_before[dim] - t * g_.dilation[dim];
          const bool read = shifted >= 0 && shifted % g_.stride[dim] == 0 && shifted / g_.stride[dim] < g_.out[dim];
          if (read) keep({t, shifted / g_.stride[dim], here});
        }
        break;
      case Direction::filter_grad:
        for (std::int64_t o = 0; o < g_.out[dim]; ++o) keep({here, o, source(o, here)});
        break;
      case Direction::bias_grad:
        for (std::int64_t o = 0; o < g_.out[dim]; ++o) meetings_[dim].push_back({0, o, 0});
        break;
    }
  }

  Term made(const Met& met, std::int64_t channel, std::int64_t image) const {
    switch (g_.direction) {
      case Direction::forward: {
        const std::int64_t base = place_.c / g_.group_c_out() * g_.group_c_in();
        return {met.tap, image_at(g_.c_in, g_.in, {image, base + channel, met.in}),
                filter_at(met.tap, channel, place_.c)};
      }
      case Direction::input_grad: {
        const std::int64_t c_out = place_.c / g_.group_c_in() * g_.group_c_out() + channel;
        return {met.tap, filter_at(met.tap, place_.c % g_.group_c_in(), c_out),
                image_at(g_.c_out, g_.out, {image, c_out, met.out})};
      }
      case Direction::filter_grad: {
        const std::int64_t c_in = place_.n / g_.group_c_out() * g_.group_c_in() + place_.c;
        return {met.tap, image_at(g_.c_in, g_.in, {image, c_in, met.in}),
                image_at(g_.c_out, g_.out, {image, place_.n, met.out})};
      }
      case Direction::bias_grad: break;
    }
    return {{}, image_at(g_.c_out, g_.out, {image, place_.n, met.out}), -1};
  }

  const Geometry& g_;
  const Place place_;
  Meetings meetings_;
};

}  // namespace

std::string_view formula(Direction direction) {
  switch (direction) {
    case Direction::forward: return "y[n,o,k] = sum over t, c of x[n, o*stride - pad + t*dilation, c] * w[t,c,k]";
    case Direction::input_grad:
      return "dx[n,i,c] = sum over t, k of w[t,c,k] * dy[n,o,k] where o*stride - pad + t*dilation = i";
    case Direction::filter_grad: return "dw[t,c,k] = sum over n, o of x[n, o*stride - pad + t*dilation, c] * dy[n,o,k]";
    case Direction::bias_grad: break;
  }
  return "db[k] = sum over n, o of dy[n,o,k]";
}

Result<Terms> terms_of(const Geometry& geometry, std::int64_t result, std::int64_t from, std::int64_t limit) {
  std::int64_t elements = 1;
  for (const std::int64_t size : result_shape(geometry)) elements *= size;
  if (result < 0 || result >= elements)
    return refuse("terms_of", {.rule = Rule::operand_shape,
                               .argument = "result",
                               .reason = "the result has no such element",
                               .got = concat(result),
                               .wanted = concat("0 to below ", elements)});
  const Cell cell(geometry, result);
  Terms terms{.list = {}, .total = cell.total(), .skipped = cell.possible() - cell.total()};
  const std::int64_t end = from < 0 ? from : std::min(terms.total, from + std::max<std::int64_t>(limit, 0));
  for (std::int64_t number = from; number < end; ++number) terms.list.push_back(cell.term(number));
  return terms;
}

}  // namespace convgrad

// Where a call's arrays lie, as DLPack says: in this process's memory, or on a GPU in the order of a stream.
#pragma once

#include <nanobind/nanobind.h>

#include <initializer_list>
#include <string_view>

#include "convgrad/plan.h"

namespace convgrad::python {

namespace nb = nanobind;

struct Site {
  Place place = {};
  void* stream = nullptr;  // that the GPU's work goes to
  nb::object leader = {};  // whose library has that stream, and makes results; none on the host
};

// That of the first array which lies on a GPU; the host where none does. None stands for no array.
Site site_of(std::initializer_list<nb::handle> arrays);

// Arrays whose memory would have to be copied, or could not be reached, are refused: never moved.
void refuse_elsewhere(nb::handle array, std::string_view argument, const Site& site);
void refuse_elsewhere(const Place& place, std::string_view argument, const Site& site);

// DLPack's loan of an array on the site's GPU: what its library does to it is done before what the stream does next.
enum class Loan : int { to_read, to_write };
nb::object lent_to(const Site& site, nb::handle array, Loan loan);

// A new array on the site's GPU, of the leader's library and element type.
nb::object new_array(const Site& site, const Shape& shape);

}  // namespace convgrad::python

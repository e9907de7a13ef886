#include "site.h"

#include <utility>

#include "arguments.h"
#include "convgrad/geometry.h"
#include "errors.h"
#include "numpy.h"

namespace convgrad::python {
namespace {

// DLPack's numbers.
constexpr std::int64_t kCuda = 2, kCudaManaged = 13;

nb::object libraries() { return nb::module_::import_("convgrad._libraries"); }

// One that cannot say where it lies counts as the host's: DLPack's loan says why, where it is asked for.
Place place_of(nb::handle array) {
  if (array.is_none() || is_ndarray(array) || !nb::hasattr(array, "__dlpack_device__")) return {};
  try {
    const nb::object device = array.attr("__dlpack_device__")();
    const std::int64_t type = integer_from(device[0], "__dlpack_device__");
    const std::int64_t number = integer_from(device[1], "__dlpack_device__");
    const bool on_gpu = (type == kCuda || type == kCudaManaged) && std::in_range<int>(number);
    return on_gpu ? Place{Memory::cuda, static_cast<int>(number)} : Place{};
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
    return {};
  }
}

}  // namespace

Site site_of(std::initializer_list<nb::handle> arrays) {
  for (nb::handle array : arrays) {
    const Place place = place_of(array);
    if (place.memory == Memory::host) continue;
    const auto stream = nb::cast<std::uintptr_t>(libraries().attr("current_stream")(array));
    return {place, reinterpret_cast<void*>(stream), nb::borrow(array)};
  }
  return {};
}

void refuse_elsewhere(const Place& place, std::string_view argument, const Site& site) {
  const bool both_host = place.memory == Memory::host && site.place.memory == Memory::host;
  if (!both_host && place != site.place) raise(wrong_place(argument, place, site.place));
}

void refuse_elsewhere(nb::handle array, std::string_view argument, const Site& site) {
  refuse_elsewhere(place_of(array), argument, site);
}

nb::object lent_to(const Site& site, nb::handle array, Loan loan) {
  return libraries().attr("lend")(array, reinterpret_cast<std::uintptr_t>(site.stream), loan == Loan::to_write);
}

nb::object new_array(const Site& site, const Shape& shape) {
  nb::list sizes;
  for (std::int64_t size : shape) sizes.append(size);
  nb::object made = libraries().attr("new_array")(site.leader, nb::tuple(sizes));
  if (!made.is_none()) return made;
  raise(wrong_type("out", "none beside an array of type " + type_of(site.leader),
                   "an array on the same GPU: only PyTorch and CuPy are asked for new ones"));
}

}  // namespace convgrad::python

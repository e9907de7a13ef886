#include "pages/element_json.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"
#include "convgrad/graph/page.h"

namespace convgrad::graph {
namespace {

constexpr std::pair<std::string_view, double> kNames[] = {{"NaN", std::numeric_limits<double>::quiet_NaN()},
                                                          {"Infinity", std::numeric_limits<double>::infinity()},
                                                          {"-Infinity", -std::numeric_limits<double>::infinity()}};

template <class T>
T from_double(double number) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(number);
  else
    return T::from(number);
}

template <class T>
using Bits =
    std::conditional_t<sizeof(T) == 2, std::uint16_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

constexpr std::string_view kNanBits = "NaN(0x";

// The NaN that arithmetic gives, or one with its bits.
template <class T>
Json nan_json(T element) {
  const auto bits = std::bit_cast<Bits<T>>(element);
  if (bits == std::bit_cast<Bits<T>>(from_double<T>(std::numeric_limits<double>::quiet_NaN()))) return "NaN";
  char digits[20];
  const auto end = std::to_chars(digits, digits + sizeof(digits), bits, 16).ptr;
  return concat(kNanBits, std::string_view(digits, static_cast<std::size_t>(end - digits)), ")");
}

template <class T>
bool nan_from_bits(std::string_view text, T& element) {
  if (text.size() <= kNanBits.size() || text.back() != ')') return false;
  Bits<T> bits = 0;
  const char *first = text.data() + kNanBits.size(), *last = text.data() + text.size() - 1;
  const auto [end, error] = std::from_chars(first, last, bits, 16);
  if (error != std::errc() || end != last) return false;
  element = std::bit_cast<T>(bits);
  return std::isnan(static_cast<double>(element));
}

// The fewest digits that round to the element: 0.1 for the float next to it.
template <class T>
Json floating_json(T element) {
  const auto exact = static_cast<double>(element);
  if (std::isnan(exact)) return nan_json(element);
  const bool whole = exact == std::trunc(exact) && std::abs(exact) < 0x1p53;
  if (!std::isfinite(exact) || whole || sizeof(T) == 8) return number_json(exact);
  for (int digits = 1; digits <= 9; ++digits) {
    char text[40];
    const auto end = std::to_chars(text, text + sizeof(text), exact, std::chars_format::scientific, digits - 1).ptr;
    double number = 0;
    std::from_chars(text, end, number);
    if (static_cast<double>(from_double<T>(number)) == exact) return number;
  }
  return exact;
}

template <class T>
Json json_of_element(T element) {
  if constexpr (std::is_same_v<T, bool>)
    return element;
  else if constexpr (std::is_integral_v<T>)
    return static_cast<int64>(element);
  else
    return floating_json(element);
}

template <class T>
bool element_from(const Json& json, T& element) {
  if constexpr (std::is_same_v<T, bool>) {
    const bool* flag = json.as<bool>();
    if (flag != nullptr) element = *flag;
    return flag != nullptr;
  } else if constexpr (std::is_integral_v<T>) {
    const int64* whole = json.as<int64>();
    if (whole == nullptr || *whole < std::numeric_limits<T>::min() || *whole > std::numeric_limits<T>::max())
      return false;
    element = static_cast<T>(*whole);
    return true;
  } else {
    const string* text = json.as<string>();
    if (text != nullptr && text->starts_with(kNanBits)) return nan_from_bits(*text, element);
    const std::optional<double> number = number_of(json);
    if (!number) return false;
    element = from_double<T>(*number);
    return std::isinf(static_cast<double>(element)) == std::isinf(*number);
  }
}

// Calls visitor(T{}) for every type that tensors hold.
template <class Visitor>
decltype(auto) visit_stored(DataType dtype, Visitor&& visitor) {
  switch (dtype) {
#define CONVGRAD_GRAPH_DTYPE(enumerator, number, type, name, letters) \
  case enumerator: return visitor(type{});
#define CONVGRAD_GRAPH_STORED(enumerator, number, type, name, letters) \
  case enumerator: return visitor(type{});
#include "convgrad/graph/dtypes.inc"
    default: break;
  }
  __builtin_unreachable();  // a tensor with memory has one of these
}

}  // namespace

std::optional<double> number_of(const Json& json) {
  if (const double* number = json.as<double>()) return *number;
  if (const int64* whole = json.as<int64>()) return static_cast<double>(*whole);
  if (const string* text = json.as<string>()) {
    for (const auto& [name, number] : kNames) {
      if (name == *text) return number;
    }
  }
  return std::nullopt;
}

// Whole numbers without a point; all others so that they read back as the same double.
Json number_json(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  const bool whole = std::abs(number) < 0x1p53 && number == std::trunc(number);
  if (whole && !(number == 0 && std::signbit(number))) return static_cast<int64>(number);
  return number;
}

bool set_element(Tensor& tensor, int64 index, const Json& number) {
  return visit_stored(tensor.dtype(),
                      [&]<class T>(T) { return element_from(number, static_cast<T*>(tensor.data())[index]); });
}

Json element_json(const Tensor& tensor, int64 index) {
  return visit_stored(tensor.dtype(),
                      [&]<class T>(T) { return json_of_element(static_cast<const T*>(tensor.data())[index]); });
}

string element_text(const Tensor& tensor, int64 index) {
  const Json json = element_json(tensor, index);
  const string* text = json.as<string>();
  return text != nullptr ? *text : compact(json);
}

Json elements_json(const Tensor& tensor) {
  Json::List list;
  list.reserve(static_cast<std::size_t>(tensor.NumElements()));
  visit_stored(tensor.dtype(), [&]<class T>(T) {
    for (int64 i = 0; i < tensor.NumElements(); ++i)
      list.push_back(json_of_element(static_cast<const T*>(tensor.data())[i]));
  });
  return list;
}

}  // namespace convgrad::graph

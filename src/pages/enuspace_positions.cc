// Where blocks lie in the drawing of an enuSpace page: <use id="..." type="tensorflow" transform="matrix(...)">. Only
// these tags and their attributes are looked at; nothing of the drawing is drawn.
#include <array>
#include <charconv>
#include <cmath>

#include "api/guard.h"
#include "pages/enuspace.h"
#include "pages/unicode.h"

namespace convgrad::graph {
namespace {

constexpr std::string_view kSpace = " \t\r\n";
constexpr double kFarthest = 1e6;

convgrad::Status bad_drawing(string reason, string got, string wanted) {
  return refuse("enuSpace", {.rule = Rule::graph_file,
                             .argument = "svg",
                             .reason = std::move(reason),
                             .got = std::move(got),
                             .wanted = std::move(wanted)});
}

// The value of name="..." in the text of a tag; empty when there is none.
std::string_view attribute(std::string_view tag, std::string_view name) {
  for (std::size_t at = tag.find(name); at != std::string_view::npos; at = tag.find(name, at + 1)) {
    std::string_view rest = tag.substr(at + name.size());
    if (at == 0 || kSpace.find(tag[at - 1]) == std::string_view::npos || rest.size() < 2 || rest[0] != '=') continue;
    const char quote = rest[1];
    rest.remove_prefix(2);
    const std::size_t end = rest.find(quote);
    if ((quote == '"' || quote == '\'') && end != std::string_view::npos) return rest.substr(0, end);
  }
  return {};
}

// Reads up to `wanted` numbers that stand between commas and spaces.
std::vector<double> numbers_of(std::string_view text, std::size_t wanted) {
  std::vector<double> numbers;
  while (numbers.size() < wanted) {
    while (!text.empty() && (text[0] == ',' || kSpace.find(text[0]) != std::string_view::npos)) text.remove_prefix(1);
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
  return numbers;
}

std::vector<double> arguments(std::string_view transform, std::string_view function, std::size_t count) {
  const std::size_t at = transform.find(function);
  return at == std::string_view::npos ? std::vector<double>()
                                      : numbers_of(transform.substr(at + function.size()), count);
}

// x and y move the block, and so does its transform.
std::array<double, 2> place_of(std::string_view tag) {
  std::array<double, 2> place{};
  const auto move = [&](const std::vector<double>& numbers, std::size_t first) {
    for (std::size_t i = 0; i < 2 && first + i < numbers.size(); ++i) place[i] += numbers[first + i];
  };
  const std::vector<double> x = numbers_of(attribute(tag, "x"), 1), y = numbers_of(attribute(tag, "y"), 1);
  move({x.empty() ? 0 : x[0], y.empty() ? 0 : y[0]}, 0);
  const std::string_view transform = attribute(tag, "transform");
  move(arguments(transform, "translate(", 2), 0);
  move(arguments(transform, "matrix(", 6), 4);
  return place;
}

Result<std::vector<PagePosition>> positions(std::string_view bytes) {
  const std::optional<string> text = to_utf8(bytes);
  if (!text || bad_utf8(*text) != string::npos)
    return bad_drawing("the drawing is no text", "other bytes", "UTF-16 with its mark, or UTF-8");
  if (text->find("<svg") == string::npos) return bad_drawing("the text is no drawing", "no <svg>", "an SVG file");
  std::vector<PagePosition> found;
  for (std::size_t at = text->find("<use"); at != string::npos; at = text->find("<use", at + 1)) {
    const std::string_view tag = std::string_view(*text).substr(at, text->find('>', at) - at);
    const std::string_view id = attribute(tag, "id");
    const std::array<double, 2> place = place_of(tag);
    if (id.empty() || !(std::abs(place[0]) < kFarthest && std::abs(place[1]) < kFarthest)) continue;
    found.push_back({string(id), std::llround(place[0]), std::llround(place[1])});
  }
  return found;
}

}  // namespace

Result<std::vector<PagePosition>> positions_from_enuspace(std::string_view svg) {
  return guarded([&] { return positions(svg); });
}

}  // namespace convgrad::graph

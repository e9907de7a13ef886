// From JSON to problems.
#include "cli/bench_shapes.h"

#include <fmt/core.h>

#include <algorithm>

#include "cli/answer.h"
#include "cli/json_fields.h"

namespace convgrad::cli {
namespace {

using nlohmann::json;

constexpr JsonForm kShapes = {"SHAPES.json", "{\"shapes\": [{\"name\": ..., \"N\": ..., ...}, ...]}"};

// One shape's object; every refusal names the shape and the field.
class ShapeReader {
 public:
  ShapeReader(const json& source, std::string name) : source_(source), name_(std::move(name)) {}

  Result<BenchShape> read() {
    CONVGRAD_RETURN_IF_ERROR(read_sizes());
    CONVGRAD_RETURN_IF_ERROR(read_channels());
    CONVGRAD_RETURN_IF_ERROR(read_padding());
    return BenchShape{name_, problem_};
  }

 private:
  std::string argument(std::string_view key) const { return fmt::format("{}.{}", name_, key); }

  Status missing(std::string_view key) const {
    return not_of_form(kShapes, fmt::format("the shape {} has no {}", in_quotes(name_), key), "nothing");
  }

  Status wrong_count(std::string_view key, std::size_t count, std::string_view wanted) const {
    return not_of_form({argument(key), wanted}, fmt::format("{} has the wrong number of entries", argument(key)),
                       fmt::format("{}", count));
  }

  Status read_number(std::string_view key, std::int64_t& number) const {
    const json* field = member(source_, key);
    if (field == nullptr) return missing(key);
    const Result<std::int64_t> value = number_of(argument(key), *field);
    if (value.ok()) number = *value;
    return value.status();
  }

  Status read_extents(std::string_view key, Extents& extents) const {
    const json* field = member(source_, key);
    if (field == nullptr) return missing(key);
    const Result<NumberList> numbers = numbers_of(argument(key), *field);
    if (!numbers.ok()) return numbers.status();
    if (static_cast<int>(numbers->size()) != problem_.rank)
      return wrong_count(key, numbers->size(), fmt::format("{}, one a dimension", problem_.rank));
    std::copy(numbers->begin(), numbers->end(), extents.begin());
    return {};
  }

  Status read_sizes() {
    const json* spatial = member(source_, "spatial");
    if (spatial == nullptr) return missing("spatial");
    if (!spatial->is_array()) return wrong_type(argument("spatial"), *spatial, "a list of integers");
    if (spatial->empty() || spatial->size() > 3) return wrong_count("spatial", spatial->size(), "1, 2 or 3");
    problem_.rank = static_cast<int>(spatial->size());
    CONVGRAD_RETURN_IF_ERROR(read_extents("spatial", problem_.in));
    CONVGRAD_RETURN_IF_ERROR(read_extents("kernel", problem_.filter));
    if (source_.contains("stride")) CONVGRAD_RETURN_IF_ERROR(read_extents("stride", problem_.stride));
    if (source_.contains("dilation")) CONVGRAD_RETURN_IF_ERROR(read_extents("dilation", problem_.dilation));
    return {};
  }

  Status read_channels() {
    std::int64_t groups = 1;
    CONVGRAD_RETURN_IF_ERROR(read_number("N", problem_.n));
    CONVGRAD_RETURN_IF_ERROR(read_number("Cin", problem_.c_in));
    CONVGRAD_RETURN_IF_ERROR(read_number("Cout", problem_.c_out));
    if (source_.contains("groups")) CONVGRAD_RETURN_IF_ERROR(read_number("groups", groups));
    if (groups < 1 || problem_.c_in % groups != 0) {
      return complain({.rule = "group-divisibility",
                       .argument = argument("groups"),
                       .reason = fmt::format("the groups of {} do not divide its channels", in_quotes(name_)),
                       .got = fmt::format("{}", groups),
                       .wanted = fmt::format("a divisor of Cin, {}", problem_.c_in)});
    }
    problem_.filter_c = problem_.c_in / groups;
    return {};
  }

  Status read_padding() {
    const json* pad = member(source_, "pad");
    if (pad == nullptr) return missing("pad");
    if (*pad == "SAME" || *pad == "VALID") {
      problem_.padding = *pad == "SAME" ? PaddingKind::same : PaddingKind::valid;
      return {};
    }
    if (!pad->is_array()) return wrong_type(argument("pad"), *pad, "\"SAME\", \"VALID\" or a pair a dimension");
    if (static_cast<int>(pad->size()) != problem_.rank)
      return wrong_count("pad", pad->size(), fmt::format("{}, a pair a dimension", problem_.rank));
    problem_.padding = PaddingKind::explicit_pairs;
    for (std::size_t i = 0; i < pad->size(); ++i) CONVGRAD_RETURN_IF_ERROR(read_pair((*pad)[i], problem_.pads[i]));
    return {};
  }

  Status read_pair(const json& field, PadPair& pair) const {
    const Result<NumberList> numbers = numbers_of(argument("pad"), field);
    if (!numbers.ok()) return numbers.status();
    if (numbers->size() != 2) return wrong_count("pad", numbers->size(), "2, before and after");
    pair = {(*numbers)[0], (*numbers)[1]};
    return {};
  }

  const json& source_;
  std::string name_;
  ConvProblem problem_;
};

Result<BenchShape> shape_of(const json& source) {
  if (!source.is_object()) return wrong_type("shape", source, "an object");
  const json* name = member(source, "name");
  if (name == nullptr || !name->is_string()) return not_of_form(kShapes, "a shape has no name", shown(source));
  return ShapeReader(source, printable(shortened(name->get_ref<const std::string&>()))).read();
}

}  // namespace

Result<std::vector<BenchShape>> parse_shapes(std::string_view text) {
  const Result<json> root = parse_json(kShapes, text);
  if (!root.ok()) return root.status();
  const json* list = root->is_object() ? member(*root, "shapes") : nullptr;
  if (list == nullptr || !list->is_array()) return not_of_form(kShapes, "the file has no list of shapes", shown(*root));
  std::vector<BenchShape> shapes;
  for (const json& source : *list) {
    Result<BenchShape> shape = shape_of(source);
    if (!shape.ok()) return shape.status();
    shapes.push_back(std::move(*shape));
  }
  return shapes;
}

}  // namespace convgrad::cli

// convgrad ops: every op with its arguments, element types and data formats.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "cli/answer.h"
#include "cli/commands.h"
#include "convgrad/geometry.h"
#include "convgrad/version.h"

namespace convgrad::cli {
namespace {

std::vector<std::string_view> arguments_of(const OpInfo& op) {
  const auto names = tensor_arguments(op.direction);
  return {names.begin(), names.end()};
}

std::vector<std::string_view> dtypes_of(const OpInfo& op) {
  std::vector<std::string_view> names;
  for (const DTypeInfo& row : all_dtypes()) {
    if (row.dtype != DType::i32 || op.takes_int32) names.push_back(row.numpy_name);
  }
  return names;
}

std::vector<std::string_view> formats_of(const OpInfo& op) {
  return {data_format(Layout::channels_last, op.rank), data_format(Layout::channels_first, op.rank)};
}

Json op_json(const OpInfo& op) {
  return {{"name", op.name},
          {"id", op.id},
          {"direction", name(op.direction)},
          {"rank", op.rank},
          {"arguments", arguments_of(op)},
          {"dtypes", dtypes_of(op)},
          {"data_formats", formats_of(op)},
          {"summary", op.summary}};
}

Json dtype_json(const DTypeInfo& row) {
  return {{"id", row.id},
          {"tf_name", row.tf_name},
          {"numpy_name", row.numpy_name},
          {"bytes", row.bytes},
          {"unit_roundoff", row.unit_roundoff}};
}

Json all_json() {
  Json json = {{"version", CONVGRAD_VERSION_STRING},
               {"ops", Json::array()},
               {"dtypes", Json::array()},
               {"rules", Json::array()}};
  for (const OpInfo& op : all_ops()) json["ops"].push_back(op_json(op));
  for (const DTypeInfo& row : all_dtypes()) json["dtypes"].push_back(dtype_json(row));
  for (const RuleInfo& rule : all_rules()) json["rules"].push_back(Json{{"id", rule.id}, {"meaning", rule.meaning}});
  return json;
}

}  // namespace

int ops_command(bool json) {
  if (json) {
    print_json(all_json());
    return kOk;
  }
  for (const OpInfo& op : all_ops()) {
    fmt::print("{}({})\n  {}\n  dtypes {}; data formats {}\n", op.name, fmt::join(arguments_of(op), ", "), op.summary,
               fmt::join(dtypes_of(op), ", "), fmt::join(formats_of(op), ", "));
  }
  return kOk;
}

}  // namespace convgrad::cli

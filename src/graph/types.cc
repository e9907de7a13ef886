// The tables of element types and attribute kinds.
#include "convgrad/graph/types.h"

#include <iterator>

#include "base/text.h"

namespace convgrad::graph {
namespace {

constexpr DataTypeInfo kTypes[] = {
#define CONVGRAD_GRAPH_DTYPE(enumerator, number, type, name, letters) {enumerator, name, letters, sizeof(type), true},
#define CONVGRAD_GRAPH_STORED(enumerator, number, type, name, letters) {enumerator, name, letters, sizeof(type), false},
#include "convgrad/graph/dtypes.inc"
};

}  // namespace

std::span<const DataTypeInfo> all_data_types() { return kTypes; }

const DataTypeInfo* data_type_info(DataType dtype) {
  for (const DataTypeInfo& row : kTypes) {
    if (row.dtype == dtype) return &row;
  }
  return nullptr;
}

string DataTypeString(DataType dtype) {
  if (const DataTypeInfo* row = data_type_info(dtype)) return string(row->name);
  if (dtype == DT_STRING) return "string";
  return dtype == DT_INVALID ? "INVALID" : concat("unknown dtype enum (", static_cast<int>(dtype), ")");
}

int DataTypeSize(DataType dtype) {
  const DataTypeInfo* row = data_type_info(dtype);
  return row == nullptr ? 0 : static_cast<int>(row->bytes);
}

std::optional<DataType> data_type_from_name(std::string_view name) {
  const bool enumerator = name.starts_with("DT_");
  for (const DataTypeInfo& row : kTypes) {
    if (name == row.name) return row.dtype;
    if (!enumerator) continue;
    string upper(row.name);
    for (char& letter : upper) letter = static_cast<char>(letter >= 'a' && letter <= 'z' ? letter - 'a' + 'A' : letter);
    if (name.substr(3) == upper) return row.dtype;
  }
  const std::optional<DType> eager = dtype_from_name(name);
  return eager ? std::optional<DataType>(data_type_of(*eager)) : std::nullopt;
}

std::optional<DType> eager_dtype(DataType dtype) {
  const DataTypeInfo* row = data_type_info(dtype);
  return row == nullptr ? std::nullopt : dtype_from_name(row->name);
}

DataType data_type_of(DType dtype) {
  for (const DataTypeInfo& row : kTypes) {
    if (row.name == info(dtype).tf_name) return row.dtype;
  }
  return DT_INVALID;
}

}  // namespace convgrad::graph

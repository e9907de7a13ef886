// What reading and writing of enuSpace's pages share: its names, and its texts for values.
#pragma once

#include "convgrad/graph/page.h"
#include "pages/refusals.h"

namespace convgrad::graph {

// A pin as its JSON has it; empty where a field is missing.
struct EnuPin {
  string name = {};
  string save = {};      // "text" or "binary"
  string shape = {};     // "[2][2]"
  string datatype = {};  // "float"; "DT_FLOAT" on some blocks
  string initial = {};   // "1,2,3,4"
  string position = {};  // in the .dat file, in bytes
  PagePin source = {};   // node is empty when nothing is wired

  bool wired() const { return !source.node.empty(); }
};

struct EnuBlock {
  string id = {};
  string symbol = {};  // "Conv2D"
  std::vector<EnuPin> inputs = {}, outputs = {};

  const EnuPin* input(std::string_view name) const;
};

Result<std::vector<EnuBlock>> read_blocks(std::string_view json);

// The type of "float", "int", "DT_HALF", ...; none for strings.
std::optional<DataType> enu_type(std::string_view name);

// The tensor that a pin holds, as text or in the .dat file. type and shape are the pin's unless the block says them.
struct EnuValue {
  const EnuPin& pin;
  DataType type;
  std::optional<Shape> shape = {};  // none: the nesting of the braces
};
Result<Tensor> read_value(const EnuValue& value, std::string_view dat);

// "[2][2]" or "{2,2}".
Result<Shape> read_shape(std::string_view text);

// "data_format_ = NDHWC;use_cudnn_on_gpu_ = true;" into a node's attributes.
convgrad::Status read_attrs_text(const OpSpec& op, std::string_view text, AttrMap& attrs);

constexpr std::string_view kEnuSession = "ClientSession", kEnuFeed = "FeedType", kEnuTypedConst = "Const_ex";

}  // namespace convgrad::graph

// Blocks of enuSpace as a page.
#include <algorithm>
#include <map>
#include <set>

#include "api/guard.h"
#include "pages/enuspace.h"

namespace convgrad::graph {
namespace {

// Blocks that hold a tensor under a type that they say themselves, and the pins it may stand on.
constexpr std::string_view kValueBlocks[] = {kEnuTypedConst, "Tensor", "Input", "Input_Initializer"};
constexpr std::string_view kValuePins[] = {"val", "value", "initializer", "tensor", "object"};
constexpr std::string_view kSessionPins[] = {"Scope",         "scope",       "device", "inputs",     "FeedType",
                                             "fetch_outputs", "run_outputs", "status", "SHOW_DEBUG", "INFINITE_LOOP"};

template <class Words>
bool is_one_of(std::string_view word, const Words& words) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

convgrad::Status bad_block(std::string_view argument, string reason, string got, string wanted) {
  return refuse("enuSpace", {.rule = Rule::graph_file,
                             .argument = argument,
                             .reason = std::move(reason),
                             .got = std::move(got),
                             .wanted = std::move(wanted)});
}

convgrad::Status unknown_pin(const EnuBlock& block, const EnuPin& pin, std::span<const string> known) {
  return bad_block(pin.name, concat(block.symbol, " has no pin ", shown(pin.name)), shown(pin.name),
                   meant(pin.name, known));
}

class EnuReader {
 public:
  EnuReader(const std::vector<EnuBlock>& blocks, std::string_view dat) : blocks_(blocks), dat_(dat) {}

  Result<Page> read() {
    for (const EnuBlock& block : blocks_) {
      if (!by_id_.emplace(block.id, &block).second)
        return at_node(
            bad_block("id", concat("two blocks have the id ", shown(block.id)), shown(block.id), "an id of its own"),
            block.id);
      if (block.symbol == kEnuFeed) CONVGRAD_RETURN_IF_ERROR(at_node(add_feed(block), block.id));
    }
    for (const EnuBlock& block : blocks_) CONVGRAD_RETURN_IF_ERROR(at_node(add(block), block.id));
    page_.fetch.insert(page_.fetch.end(), runs_.begin(), runs_.end());
    return std::move(page_);
  }

 private:
  convgrad::Status add(const EnuBlock& block) {
    if (block.symbol == kEnuFeed) return {};
    if (block.symbol == kEnuSession) return add_session(block);
    if (block.symbol == "Const") return add_const(block);
    if (is_one_of(block.symbol, kValueBlocks)) return add_value(block);
    const OpSpec* op = find_graph_op(block.symbol);
    if (op == nullptr) return unknown_op(block.symbol);
    if (const auto feed = feeds_.find(block.id); block.symbol == "Placeholder" && feed != feeds_.end())
      return add_alias(block, feed->second);
    return add_op(*op, block);
  }

  // A placeholder that a FeedType block feeds reads the value instead.
  convgrad::Status add_feed(const EnuBlock& block) {
    const EnuPin *input = block.input("input"), *value = block.input("initializer");
    if (input == nullptr || value == nullptr || !input->wired() || !value->wired())
      return bad_block("input", "a FeedType block feeds one placeholder with one value", "a pin that is not wired",
                       "wires on input and initializer");
    feeds_[input->source.node] = value->source;
    return {};
  }

  convgrad::Status add_alias(const EnuBlock& block, const PagePin& source) {
    page_.nodes.push_back({.id = block.id, .op = "Identity"});
    page_.edges.push_back({output_of(source), {block.id, "input"}});
    return {};
  }

  // Value blocks call their output otherwise than the constants that they become.
  PagePin output_of(const PagePin& source) const {
    const auto found = by_id_.find(source.node);
    const bool value = found != by_id_.end() && is_one_of(found->second->symbol, kValueBlocks);
    return value ? PagePin{source.node, "output"} : source;
  }

  convgrad::Status add_session(const EnuBlock& block) {
    for (const EnuPin& pin : block.inputs) {
      if (!is_one_of(pin.name, kSessionPins))
        return unknown_pin(block, pin, std::vector<string>(std::begin(kSessionPins), std::end(kSessionPins)));
      if (!pin.wired()) continue;
      // Every fetch has its own pin, so that operations which are run besides move no label.
      if (pin.name == "fetch_outputs") add_once(page_.fetch, output_of(pin.source));
      if (pin.name == "run_outputs") add_once(runs_, first_output(pin.source));
    }
    return {};
  }

  void add_once(std::vector<PagePin>& pins, const PagePin& pin) {
    if (fetched_.insert(pin).second) pins.push_back(pin);
  }

  // An operation is run by fetching its first output.
  PagePin first_output(const PagePin& source) const {
    const auto found = by_id_.find(source.node);
    const OpSpec* op = found == by_id_.end() ? nullptr : find_graph_op(found->second->symbol);
    return op == nullptr || op->outputs.empty() ? source : PagePin{source.node, op->outputs.front().name};
  }

  convgrad::Status add_const(const EnuBlock& block) {
    const EnuPin* val = block.input("val");
    if (val == nullptr) return bad_block("val", "a Const has no value", "nothing", "a pin \"val\"");
    const std::optional<DataType> type = enu_type(val->datatype);
    if (!type) return unknown_type(*val, val->datatype);
    const Result<Shape> shape = read_shape(val->shape);
    if (!shape.ok()) return shape.status();
    return add_tensor(block, read_value({*val, *type, *shape}, dat_));
  }

  static convgrad::Status unknown_type(const EnuPin& pin, const string& name) {
    return bad_block(pin.name, "the element type is not known", shown(name), "float, double, int, bool, or DT_...");
  }

  convgrad::Status add_tensor(const EnuBlock& block, const Result<Tensor>& tensor) {
    if (!tensor.ok()) return tensor.status();
    page_.nodes.push_back({.id = block.id, .op = "Const", .attrs = {{"value", *tensor}, {"dtype", tensor->dtype()}}});
    return {};
  }

  // A value of its own, or that of the block before it.
  convgrad::Status add_value(const EnuBlock& block) {
    const EnuPin *value = nullptr, *type_pin = block.input("dtype"), *shape_pin = block.input("shape");
    for (const std::string_view name : kValuePins) value = value == nullptr ? block.input(name) : value;
    if (value == nullptr) return bad_block("value", "the block has no value", "nothing", "a pin \"val\" or \"value\"");
    if (value->wired()) return add_alias(block, value->source);
    const string& name = type_pin == nullptr || type_pin->initial.empty() ? value->datatype : type_pin->initial;
    const std::optional<DataType> type = enu_type(name);
    if (!type) return unknown_type(*value, name);
    const string& sizes = shape_pin == nullptr || shape_pin->initial.empty() ? value->shape : shape_pin->initial;
    EnuValue read{*value, *type};
    if (!sizes.empty()) {
      const Result<Shape> shape = read_shape(sizes);
      if (!shape.ok()) return shape.status();
      read.shape = *shape;
    }
    return add_tensor(block, read_value(read, dat_));
  }

  convgrad::Status add_op(const OpSpec& op, const EnuBlock& block) {
    PageNode node{.id = block.id, .op = op.name};
    std::map<std::string_view, int> wired;  // wires so far, a list's pin has many
    for (const EnuPin& pin : block.inputs) CONVGRAD_RETURN_IF_ERROR(add_pin(op, pin, node, wired));
    for (const EnuPin& pin : block.outputs) CONVGRAD_RETURN_IF_ERROR(known_output(op, block, pin));
    page_.nodes.push_back(std::move(node));
    return {};
  }

  convgrad::Status add_pin(const OpSpec& op, const EnuPin& pin, PageNode& node,
                           std::map<std::string_view, int>& wired) {
    if (pin.name == "Scope" || pin.name == "scope") return {};
    if (pin.name == "attrs") return read_attrs_text(op, pin.initial, node.attrs);
    for (const PinSpec& input : op.inputs) {
      if (input.name != pin.name) continue;
      if (pin.wired()) {
        const string name = input.list ? concat(pin.name, ":", wired[input.name]++) : pin.name;
        page_.edges.push_back({output_of(pin.source), {node.id, name}});
        return {};
      }
      if (pin.initial.empty()) return {};
      return bad_block(pin.name, "a value is typed where a wire is wanted", shown(pin.initial), "a wire from a Const");
    }
    return add_typed(op, pin, node);
  }

  // Attributes without a default have pins of their own.
  static convgrad::Status add_typed(const OpSpec& op, const EnuPin& pin, PageNode& node) {
    const AttrSpec* spec = op.attr(pin.name);
    if (spec == nullptr || spec->from_inputs) {
      std::vector<string> known = {"attrs"};
      for (const PinSpec& input : op.inputs) known.push_back(input.name);
      for (const AttrSpec& attr : op.attrs) {
        if (!attr.fallback && !attr.from_inputs) known.push_back(attr.name);
      }
      return bad_block(pin.name, concat(op.name, " has no pin ", shown(pin.name)), shown(pin.name),
                       meant(pin.name, known));
    }
    if (pin.initial.empty()) return {};
    Result<AttrValue> value = parse_attr(op, pin.name, pin.initial);
    if (!value.ok()) return value.status();
    if (node.attrs.emplace(pin.name, std::move(*value)).second) return {};
    return bad_block(pin.name, "the pin is there twice", shown(pin.initial), "every pin once");
  }

  static convgrad::Status known_output(const OpSpec& op, const EnuBlock& block, const EnuPin& pin) {
    const std::string_view name = pin.name.starts_with("result_") ? std::string_view(pin.name).substr(7) : pin.name;
    std::vector<string> known;
    for (const PinSpec& output : op.outputs) known.push_back(output.name);
    return is_one_of(name, known) ? convgrad::Status() : unknown_pin(block, pin, known);
  }

  const std::vector<EnuBlock>& blocks_;
  const std::string_view dat_;
  std::map<std::string_view, const EnuBlock*> by_id_;
  std::map<string, PagePin> feeds_;
  std::set<PagePin> fetched_;
  std::vector<PagePin> runs_;
  Page page_;
};

}  // namespace

Result<Page> page_from_enuspace(std::string_view json, std::string_view dat) {
  return guarded([&]() -> Result<Page> {
    const Result<std::vector<EnuBlock>> blocks = read_blocks(json);
    if (!blocks.ok()) return blocks.status();
    return EnuReader(*blocks, dat).read();
  });
}

}  // namespace convgrad::graph

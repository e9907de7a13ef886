#include "pages/code.h"

#include <set>

#include "api/guard.h"
#include "pages/attr_json.h"

namespace convgrad::graph {
namespace {

// Keywords of both languages, and names that the programs use themselves.
const std::set<std::string_view>& taken_words() {
  static const std::set<std::string_view> words = {
      "alignas", "alignof", "and", "and_eq", "as", "asm", "assert", "async", "atomic_cancel", "atomic_commit",
      "atomic_noexcept", "auto", "await", "bitand", "bitor", "bool", "break", "case", "catch", "char", "char16_t",
      "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield", "compl", "concept", "const", "const_cast",
      "consteval", "constexpr", "constinit", "continue", "decltype", "def", "default", "del", "delete", "do", "double",
      "dynamic_cast", "elif", "else", "enum", "except", "explicit", "export", "extern", "false", "False", "finally",
      "float", "for", "friend", "from", "global", "goto", "if", "import", "in", "inline", "int", "is", "lambda", "long",
      "match", "mutable", "namespace", "new", "noexcept", "None", "nonlocal", "not", "not_eq", "nullptr", "operator",
      "or", "or_eq", "pass", "print", "private", "protected", "public", "raise", "reflexpr", "register",
      "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
      "struct", "switch", "synchronized", "template", "this", "thread_local", "throw", "true", "True", "try", "type",
      "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile", "wchar_t", "while",
      "with", "xor", "xor_eq", "yield",
      // Of the programs.
      "BFloat16", "Const", "Error", "Half", "bfloat16", "error", "Input", "InputList", "Operation", "Output", "Padding",
      "PartialTensorShape", "Scope", "Shape", "Status", "Tensor", "TensorShape", "ClientSession", "convgrad", "feeds",
      "graph", "half", "int16", "int32", "int64", "int8", "linux", "main", "ml_dtypes", "np", "numpy", "ops", "options",
      "outputs", "raw_ops", "root", "session", "status", "std", "string", "tensorflow", "tf", "uint8", "unix"};
  return words;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Letters and digits, others as one "_"; no "_" first and no two of them, which C++ keeps for itself.
string identifier(std::string_view id) {
  constexpr std::size_t kLong = 60;
  string text;
  for (const char c : id) {
    if (is_letter(c) || is_digit(c))
      text += c;
    else if (!text.empty() && text.back() != '_')
      text += '_';
  }
  text.resize(std::min(text.size(), kLong));
  while (!text.empty() && text.back() == '_') text.pop_back();
  if (text.empty() || is_digit(text.front())) text.insert(0, "n");
  // DT_ and the names of macros, all capitals, are not ours to take.
  if (taken_words().contains(text) || text.starts_with("DT_") || text.starts_with("EOF")) text += "_node";
  return text;
}

class Names {
 public:
  string of(std::string_view id) {
    const string wanted = identifier(id);
    string name = wanted;
    for (int& number = last_[wanted]; !used_.insert(name).second;) name = concat(wanted, "_", ++number + 1);
    return name;
  }

 private:
  std::unordered_map<string, int> last_;
  std::set<string> used_;
};

convgrad::Status nothing_to_fetch() {
  return refuse("page", {.rule = Rule::graph_fetch,
                         .argument = "fetch",
                         .reason = "the page has no output to print",
                         .got = "nothing",
                         .wanted = "one output or more"});
}

Result<string> code_of(const Page& page, CodeStyle style) {
  if (style == CodeStyle::graphviz) return graphviz_code(page);
  const Result<Program> program = program_of(page);
  if (!program.ok()) return program.status();
  switch (style) {
    case CodeStyle::cpp_graph: return cpp_graph_code(*program);
    case CodeStyle::cpp_eager: return cpp_eager_code(*program);
    case CodeStyle::python_convgrad: return python_code(*program, {.tensorflow = false});
    case CodeStyle::python_tensorflow: return python_code(*program, {.tensorflow = true});
    case CodeStyle::graphviz: break;
  }
  return refuse("page", {.rule = Rule::graph_file,
                         .argument = "style",
                         .reason = "there is no such style",
                         .got = concat(static_cast<int>(style)),
                         .wanted = "0 to 4"});
}

}  // namespace

Result<Program> program_of(const Page& page) {
  Result<PageGraph> built = build_page(page);
  if (!built.ok()) return built.status();
  if (built->fetch.empty()) return nothing_to_fetch();
  Program program{std::move(*built)};
  Names names;
  for (const Node& node : program.built.scope.graph()->nodes()) {
    program.nodes.push_back(&node);
    program.names.emplace(&node, names.of(node.name()));
  }
  return program;
}

std::vector<const AttrSpec*> written_attrs(const Node& node, bool with_default) {
  std::vector<const AttrSpec*> attrs;
  for (const AttrSpec& attr : node.op().attrs) {
    if (attr.from_inputs || attr.fallback.has_value() != with_default) continue;
    if (!with_default || !same_value(*attr.fallback, node.attrs().at(attr.name))) attrs.push_back(&attr);
  }
  return attrs;
}

const string& pin_of(const Wire& wire) { return wire.node->op().outputs[static_cast<std::size_t>(wire.index)].name; }

string label_of(const Output& output) {
  return concat(output.node()->name(), ":", pin_of({output.node(), output.index()}));
}

convgrad::Status fits_code(const Node& node, const Tensor& tensor) {
  if (tensor.NumElements() <= kCodeElements || is_constant(tensor)) return {};
  return at_node(refuse("page", {.rule = Rule::graph_file,
                                 .argument = "value",
                                 .reason = "the tensor is too large to stand in a program",
                                 .got = concat(tensor.NumElements(), " elements"),
                                 .wanted = concat("at most ", kCodeElements)}),
                 node.name());
}

bool is_constant(const Tensor& tensor) {
  const std::string_view bytes = tensor.tensor_data();
  const std::size_t each = data_type_info(tensor.dtype())->bytes;
  return bytes.size() >= each && bytes.substr(each) == bytes.substr(0, bytes.size() - each);
}

Shape some_shape(const PartialTensorShape& shape) {
  Shape sizes = shape.unknown_rank() ? Shape() : shape.sizes();
  for (int64& size : sizes) size = size < 0 ? 1 : size;
  return sizes;
}

string comma_list(std::span<const int64> numbers) {
  string text;
  for (int64 number : numbers) text += concat(text.empty() ? "" : ", ", number);
  return text;
}

Result<string> page_code(const Page& page, CodeStyle style) {
  return guarded([&] { return code_of(page, style); });
}

}  // namespace convgrad::graph

// Page files: JSON text to a Page and back.
#include <filesystem>

#include "api/guard.h"
#include "pages/attr_json.h"
#include "pages/files.h"
#include "pages/page_facts.h"
#include "pages/refusals.h"
#include "pages/unicode.h"

namespace convgrad::graph {
namespace {

constexpr int64 kVersion = 1;

convgrad::Status bad_page(const Json& at, std::string_view argument, string reason, string got, string wanted) {
  return refuse("page", {.rule = Rule::graph_file,
                         .argument = argument,
                         .reason = concat("line ", at.line, ", column ", at.column, ": ", reason),
                         .got = std::move(got),
                         .wanted = std::move(wanted)});
}

convgrad::Status wrong_kind(const Json& at, std::string_view key, std::string_view wanted) {
  return bad_page(at, key, concat("\"", key, "\" is of another kind"), string(at.kind()), string(wanted));
}

convgrad::Status unknown_key(const Json& at, const string& key, std::span<const string> known) {
  return bad_page(at, key, concat("there is no key ", shown(key), " here"), shown(key), meant(key, known));
}

class PageReader {
 public:
  explicit PageReader(const PageFolder& folder) : files_(folder) {}

  Result<Page> read(const Json& json) {
    static const std::vector<string> kKeys = {"convgrad", "nodes", "edges", "fetch", "view"};
    const auto* members = json.as<Json::Members>();
    if (members == nullptr) return wrong_kind(json, "page", "an object");
    CONVGRAD_RETURN_IF_ERROR(version_is_known(json));
    if (json.find("nodes") == nullptr)
      return bad_page(json, "nodes", "the page has no \"nodes\"", "nothing", "a list of nodes");
    for (const auto& [key, value] : *members) {
      if (key == "convgrad") continue;
      convgrad::Status status;
      if (key == "nodes")
        status = read_list(value, key, kPageNodes, [&](const Json& entry) { return read_node(entry); });
      else if (key == "edges")
        status = read_list(value, key, kPageEdges, [&](const Json& entry) { return read_edge(entry); });
      else if (key == "fetch")
        status = read_list(value, key, kPageEdges, [&](const Json& entry) { return read_fetch(entry); });
      else if (key == "view")
        page_.view = compact(value);
      else
        status = unknown_key(value, key, kKeys);
      if (!status.ok()) return status;
    }
    return std::move(page_);
  }

 private:
  static convgrad::Status version_is_known(const Json& json) {
    const Json* version = json.find("convgrad");
    if (version == nullptr)
      return bad_page(json, "convgrad", "this is no page: it has no \"convgrad\"", "nothing", concat(kVersion));
    const int64* number = version->as<int64>();
    if (number != nullptr && *number == kVersion) return {};
    return bad_page(*version, "convgrad", "the page is of another version", brief(*version), concat(kVersion));
  }

  template <class Read>
  static convgrad::Status read_list(const Json& json, std::string_view key, std::size_t limit, const Read& read) {
    const auto* list = json.as<Json::List>();
    if (list == nullptr) return wrong_kind(json, key, "a list");
    if (list->size() > limit)
      return bad_page(json, key, concat("the page has too many ", key), concat(list->size()),
                      concat("at most ", limit));
    for (const Json& entry : *list) CONVGRAD_RETURN_IF_ERROR(read(entry));
    return {};
  }

  convgrad::Status read_node(const Json& json) {
    const auto* members = json.as<Json::Members>();
    if (members == nullptr) return wrong_kind(json, "nodes", "objects");
    PageNode node;
    const Json* id = json.find("id");
    if (id == nullptr || id->as<string>() == nullptr || id->as<string>()->empty())
      return bad_page(id == nullptr ? json : *id, "id", "a node has no id", id == nullptr ? "nothing" : brief(*id),
                      "a string that is not empty");
    node.id = *id->as<string>();
    const convgrad::Status status = read_members(*members, json, node);
    if (!status.ok()) return at_node(status, node.id);
    page_.nodes.push_back(std::move(node));
    return {};
  }

  convgrad::Status read_members(const Json::Members& members, const Json& json, PageNode& node) {
    static const std::vector<string> kKeys = {"id", "op", "name", "attrs"};
    const Json* attrs = nullptr;
    for (const auto& [key, value] : members) {
      const string* text = value.as<string>();
      if (key == "id") continue;
      if (key == "attrs") {
        attrs = &value;
      } else if (key != "op" && key != "name") {
        return unknown_key(value, key, kKeys);
      } else if (text == nullptr) {
        return wrong_kind(value, key, "a string");
      } else {
        (key == "op" ? node.op : node.name) = *text;
      }
    }
    if (node.op.empty()) return bad_page(json, "op", "a node has no op", "nothing", "the name of an op");
    const OpSpec* op = find_graph_op(node.op);
    if (op == nullptr) return unknown_op(node.op);
    return attrs == nullptr ? convgrad::Status() : read_attrs(*op, *attrs, node.attrs);
  }

  convgrad::Status read_attrs(const OpSpec& op, const Json& json, AttrMap& attrs) {
    const auto* members = json.as<Json::Members>();
    if (members == nullptr) return wrong_kind(json, "attrs", "an object");
    for (const auto& [key, value] : *members) {
      const AttrSpec* spec = op.attr(key);
      if (spec == nullptr || spec->from_inputs) return unknown_attr(op, key);
      Result<AttrValue> read = attr_from_json(*spec, value, files_);
      if (!read.ok()) return read.status();
      attrs.emplace(key, std::move(*read));
    }
    add_value_type(op, attrs);
    return {};
  }

  static Result<PagePin> read_pin(const Json& json, std::string_view key) {
    const auto* list = json.as<Json::List>();
    if (list == nullptr || list->size() != 2) return wrong_kind(json, key, "[node, pin]");
    const string *node = (*list)[0].as<string>(), *pin = (*list)[1].as<string>();
    if (node == nullptr || pin == nullptr) return wrong_kind(json, key, "[node, pin], both strings");
    return PagePin{*node, *pin};
  }

  convgrad::Status read_edge(const Json& json) {
    const auto* list = json.as<Json::List>();
    if (list == nullptr || list->size() != 2) return wrong_kind(json, "edges", "[[node, pin], [node, pin]]");
    Result<PagePin> from = read_pin((*list)[0], "edges"), to = read_pin((*list)[1], "edges");
    if (!from.ok()) return from.status();
    if (!to.ok()) return to.status();
    page_.edges.push_back({std::move(*from), std::move(*to)});
    return {};
  }

  convgrad::Status read_fetch(const Json& json) {
    Result<PagePin> pin = read_pin(json, "fetch");
    if (!pin.ok()) return pin.status();
    page_.fetch.push_back(std::move(*pin));
    return {};
  }

  TensorFiles files_;
  Page page_;
};

Json pin_json(const PagePin& pin) { return Json::List{pin.node, pin.pin}; }

// What the op would take anyway is not written.
bool is_default(const OpSpec* op, const string& name, const AttrMap& attrs) {
  const AttrSpec* spec = op == nullptr ? nullptr : op->attr(name);
  if (spec == nullptr) return false;
  if (spec->from_inputs || says_value_type(*op, name, attrs)) return true;
  return spec->fallback && same_value(*spec->fallback, attrs.find(name)->second);
}

Result<Json> node_json(const PageNode& node, TensorFiles& files) {
  Json json = Json::object();
  json.add("id", node.id);
  json.add("op", node.op);
  if (!node.name.empty()) json.add("name", node.name);
  const OpSpec* op = find_graph_op(node.op);
  Json attrs = Json::object();
  for (const auto& [name, value] : node.attrs) {
    if (is_default(op, name, node.attrs)) continue;
    Result<Json> attr = json_of_attr(value, tensor_file_name(node.id, name), files);
    if (!attr.ok()) return at_node(attr.status(), node.id);
    attrs.add(name, std::move(*attr));
  }
  if (!attrs.as<Json::Members>()->empty()) json.add("attrs", std::move(attrs));
  return json;
}

Result<string> write_page(const Page& page, const PageFolder& folder) {
  TensorFiles files(folder);
  Json json = Json::object(), nodes = Json::list(), edges = Json::list(), fetch = Json::list();
  for (const PageNode& node : page.nodes) {
    Result<Json> entry = node_json(node, files);
    if (!entry.ok()) return entry.status();
    nodes.add(std::move(*entry));
  }
  for (const PageEdge& edge : page.edges) edges.add(Json::List{pin_json(edge.from), pin_json(edge.to)});
  for (const PagePin& pin : page.fetch) fetch.add(pin_json(pin));
  json.add("convgrad", kVersion);
  json.add("nodes", std::move(nodes));
  json.add("edges", std::move(edges));
  if (!page.fetch.empty()) json.add("fetch", std::move(fetch));
  if (!page.view.empty()) {
    Result<Json> view = read_json(page.view, "view");
    if (!view.ok()) return view.status();
    json.add("view", std::move(*view));
  }
  string text = laid_out(json, 2);
  const std::size_t bad = bad_utf8(text);
  if (bad == string::npos) return text;
  return refuse("page", {.rule = Rule::graph_file,
                         .argument = "page",
                         .reason = "a name or text of the page is not UTF-8",
                         .got = concat("byte ", bad, " of the file"),
                         .wanted = "UTF-8"});
}

PageFolder folder_of(const string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  return {folder.empty() ? "." : folder.string()};
}

}  // namespace

Result<Page> parse_page(std::string_view text, const PageFolder& folder) {
  return guarded([&]() -> Result<Page> {
    const Result<Json> json = read_json(text, "page");
    if (!json.ok()) return json.status();
    return PageReader(folder).read(*json);
  });
}

Result<string> page_text(const Page& page, const PageFolder& folder) {
  return guarded([&] { return write_page(page, folder); });
}

Result<Page> load_page(const string& path) {
  return guarded([&]() -> Result<Page> {
    const Result<string> text = read_file(path, kJsonBytes);
    if (!text.ok()) return text.status();
    return parse_page(*text, folder_of(path));
  });
}

convgrad::Status save_page(const Page& page, const string& path) {
  return guarded([&]() -> convgrad::Status {
    const Result<string> text = page_text(page, folder_of(path));
    if (!text.ok()) return text.status();
    const std::string_view parts[] = {*text};
    return write_file(path, parts);
  });
}

}  // namespace convgrad::graph

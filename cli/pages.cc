// Files to pages to graphs, and names to outputs.
#include "cli/pages.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "cli/answer.h"
#include "cli/commands.h"
#include "cli/files.h"
#include "cli/numbers.h"
#include "cli/suggest.h"
#include "convgrad/npy.h"

namespace convgrad::cli {
namespace {

constexpr std::size_t kMaxPageBytes = std::size_t{256} << 20;
constexpr std::size_t kMaxDatBytes = std::size_t{1} << 30;

bool is_utf16(std::string_view text) { return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"); }

// enuSpace writes {"object": [...]}.
bool starts_with_objects(std::string_view text) {
  return text.substr(0, text.find('[')).find("\"object\"") != std::string_view::npos;
}

// The .dat file beside a page; empty where there is none.
std::string dat_beside(const std::string& path) {
  const std::string dat = std::filesystem::path(path).replace_extension(".dat").string();
  std::error_code ignored;
  return path != "-" && std::filesystem::is_regular_file(dat, ignored) ? read_text(dat, kMaxDatBytes) : std::string();
}

graph::PageFolder folder_of(const std::string& path) {
  if (path == "-") return {};
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return {folder.empty() ? "." : folder};
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t end = 0; end != std::string_view::npos;
       text.remove_prefix(end == std::string_view::npos ? 0 : end + 1)) {
    end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
  }
  return parts;
}

Status no_output(std::string_view option, std::string_view word, std::string reason, std::string wanted) {
  return complain({.rule = "graph-fetch",
                   .argument = option,
                   .reason = std::move(reason),
                   .got = in_quotes(word),
                   .wanted = std::move(wanted)});
}

Status no_node(const graph::PageGraph& graph, std::string_view word, std::string_view option) {
  std::vector<std::string> names;
  for (const auto& [id, node] : graph.nodes) names.push_back(id);
  return no_output(option, word, fmt::format("the graph has no node {}{}", in_quotes(word), did_you_mean(word, names)),
                   "a node of the graph, name or name:index");
}

Result<graph::Output> find_output(const graph::PageGraph& graph, const std::string& word, std::string_view option) {
  if (const auto whole = graph.nodes.find(word); whole != graph.nodes.end() && whole->second->num_outputs() > 0)
    return graph::Output(whole->second, 0);
  const std::size_t colon = word.rfind(':');
  const auto found = graph.nodes.find(word.substr(0, colon));
  if (found == graph.nodes.end()) return no_node(graph, word.substr(0, colon), option);
  const Result<std::int64_t> index = colon == std::string::npos ? 0 : parse_number(option, word.substr(colon + 1));
  if (!index.ok()) return index.status();
  const int count = found->second->num_outputs();
  if (*index >= 0 && *index < count) return graph::Output(found->second, static_cast<int>(*index));
  return no_output(option, word, fmt::format("{} has no output {}", in_quotes(found->first), *index),
                   count == 0 ? std::string("a node with outputs") : fmt::format("0 to {}", count - 1));
}

Result<graph::Tensor> read_tensor(const std::string& path) {
  expect_readable_file(path);
  return graph::read_npy(path);
}

}  // namespace

bool names_page(std::string_view word) { return word == "-" || word.ends_with(".json"); }

Result<graph::Page> page_from_text(std::string_view text, const graph::PageFolder& folder, std::string_view dat) {
  if (!is_utf16(text)) {
    Result<graph::Page> page = graph::parse_page(text, folder);
    if (page.ok() || !starts_with_objects(text)) return page;
  }
  return graph::page_from_enuspace(text, dat);
}

Result<graph::Page> read_page(const std::string& path) {
  return page_from_text(read_text(path, kMaxPageBytes), folder_of(path), dat_beside(path));
}

int write_page(const graph::Page& page, const std::string& path) {
  const Result<std::string> text = graph::page_text(page, path.empty() ? graph::PageFolder{} : folder_of(path));
  if (!text.ok()) return refuse(text.status());
  write_text(path, *text);
  return kOk;
}

Result<LoadedGraph> read_graph(const std::string& path) {
  Result<graph::Page> page = read_page(path);
  if (!page.ok()) return page.status();
  Result<graph::PageGraph> graph = graph::build_page(*page);
  if (!graph.ok()) return graph.status();
  return LoadedGraph{std::move(*page), std::move(*graph)};
}

std::string label(const graph::Output& output) {
  const std::string& name = output.node()->name();
  return output.index() == 0 ? name : fmt::format("{}:{}", name, output.index());
}

std::string_view pin_name(const graph::Output& output) {
  return output.node()->op().outputs[static_cast<std::size_t>(output.index())].name;
}

Result<std::vector<graph::Output>> find_outputs(const graph::PageGraph& graph, const std::vector<std::string>& words,
                                                std::string_view option) {
  std::vector<graph::Output> outputs;
  for (const std::string& word : words) {
    for (const std::string& name : split(word, ',')) {
      const Result<graph::Output> output = find_output(graph, name, option);
      if (!output.ok()) return output.status();
      outputs.push_back(*output);
    }
  }
  return outputs;
}

Result<graph::Output> find_output(const graph::PageGraph& graph, const graph::PagePin& pin, std::string_view argument) {
  const auto found = graph.nodes.find(pin.node);
  if (found == graph.nodes.end()) return no_node(graph, pin.node, argument);
  const std::vector<graph::PinSpec>& outputs = found->second->op().outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].name == pin.pin) return graph::Output(found->second, static_cast<int>(i));
  }
  return no_output(argument, pin.pin, fmt::format("{} has no output {}", in_quotes(pin.node), in_quotes(pin.pin)),
                   "an output pin of its op");
}

Result<graph::ClientSession::FeedType> read_feeds(const graph::PageGraph& graph,
                                                  const std::vector<std::string>& words) {
  graph::ClientSession::FeedType feeds;
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals + 1 == word.size()) {
      return no_output("--feed", word, "a feed is written name=file.npy", "e.g. x=x.npy");
    }
    const Result<graph::Output> output = find_output(graph, word.substr(0, equals), "--feed");
    if (!output.ok()) return output.status();
    const Result<graph::Tensor> tensor = read_tensor(word.substr(equals + 1));
    if (!tensor.ok()) return tensor.status();
    if (!feeds.emplace(*output, *tensor).second)
      return no_output("--feed", word, fmt::format("{} is fed twice", in_quotes(label(*output))), "each output once");
  }
  return feeds;
}

}  // namespace convgrad::cli

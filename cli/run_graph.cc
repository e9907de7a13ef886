// Feeds in, one run, tensors out: printed, as JSON, or as files.
#include "cli/run_graph.h"

#include <fmt/core.h>

#include <filesystem>
#include <set>

#include "cli/answer.h"
#include "cli/files.h"
#include "cli/graph_plan.h"
#include "cli/interrupt.h"
#include "cli/pages.h"
#include "cli/policy.h"
#include "cli/progress.h"
#include "cli/tensor_text.h"
#include "convgrad/npy.h"

namespace convgrad::cli {
namespace {

namespace fs = std::filesystem;

// All that has been looked at before anything runs.
struct Prepared {
  LoadedGraph loaded;
  Policy policy;
  std::vector<graph::Output> fetch;
  graph::ClientSession::FeedType feeds;
  std::vector<std::string> files;  // one a fetch; empty: none is written
};

struct Computed {
  std::vector<graph::Tensor> tensors;
  graph::RunMetadata metadata;
};

// The file of a fetch inside the folder. A node's name may have parts, as those of gradients do, but none of them may
// lead out.
Result<std::string> file_of(const std::string& folder, const graph::Output& output) {
  const std::string name = label(output);
  bool stays = !name.starts_with('/') && !name.ends_with('/') && name.find('\0') == std::string::npos;
  for (const fs::path& part : fs::path(name)) stays = stays && part != ".." && part != "." && !part.empty();
  if (stays) return folder + "/" + name + ".npy";
  return complain({.rule = "graph-fetch",
                   .argument = "--out",
                   .reason = fmt::format("the name of {} would leave the folder", in_quotes(name)),
                   .got = in_quotes(name),
                   .wanted = "a name without '..' and empty parts"});
}

Result<std::vector<std::string>> files_of(const std::string& folder, const std::vector<graph::Output>& fetch) {
  std::vector<std::string> files;
  for (const graph::Output& output : fetch) {
    const Result<std::string> file = file_of(folder, output);
    if (!file.ok()) return file.status();
    files.push_back(*file);
  }
  if (std::set<std::string>(files.begin(), files.end()).size() == files.size()) return files;
  return complain({.rule = "graph-fetch",
                   .argument = "--fetch",
                   .reason = "two fetches would write the same file",
                   .got = "an output twice",
                   .wanted = "each output once, with --out"});
}

Status only_graph_options(const RunRequest& request) {
  const std::string seed = request.seed == RunRequest().seed ? "" : request.seed;
  for (const auto& [option, value] :
       {std::pair{"--first", &request.first}, {"--second", &request.second}, {"--seed", &seed}}) {
    if (value->empty()) continue;
    return complain({.rule = "problem-string",
                     .argument = option,
                     .reason = fmt::format("{} is for problem strings; a graph takes --feed name=file.npy", option),
                     .got = in_quotes(*value),
                     .wanted = "no such option"});
  }
  return {};
}

Status nothing_to_show(const std::string& path) {
  return complain({.rule = "graph-fetch",
                   .argument = "--fetch",
                   .reason = fmt::format("the graph {} has no output to show", in_quotes(path)),
                   .got = "nothing",
                   .wanted = "a node with outputs"});
}

Result<Prepared> prepare(const RunRequest& request) {
  CONVGRAD_RETURN_IF_ERROR(only_graph_options(request));
  Result<Policy> policy = policy_of(request.policy);
  if (!policy.ok()) return policy.status();
  Result<LoadedGraph> loaded = read_graph(request.subject);
  if (!loaded.ok()) return loaded.status();
  Result<std::vector<graph::Output>> fetch = find_outputs(loaded->graph, request.fetch, "--fetch");
  if (!fetch.ok()) return fetch.status();
  if (fetch->empty()) *fetch = loaded->graph.fetch;
  if (fetch->empty()) return nothing_to_show(request.subject);
  Result<graph::ClientSession::FeedType> feeds = read_feeds(loaded->graph, request.feed);
  if (!feeds.ok()) return feeds.status();
  Prepared prepared{std::move(*loaded), std::move(*policy), std::move(*fetch), std::move(*feeds), {}};
  if (request.out.empty()) return prepared;
  Result<std::vector<std::string>> files = files_of(request.out, prepared.fetch);
  if (!files.ok()) return files.status();
  prepared.files = std::move(*files);
  return prepared;
}

Result<Computed> compute(const Prepared& prepared) {
  ProgressBar bar;
  graph::RunOptions options;
  options.cancel = cancel_on_interrupt();
  options.progress = [&bar](const graph::RunProgress& progress) { bar.draw(progress); };
  Computed computed;
  const graph::ClientSession session(prepared.loaded.graph.scope, graph::SessionOptions{prepared.policy});
  const graph::Status status =
      session.Run(options, prepared.feeds, prepared.fetch, {}, &computed.tensors, &computed.metadata);
  if (!status.ok()) return status.core();
  return computed;
}

Status write_files(const Prepared& prepared, const Computed& computed) {
  for (std::size_t i = 0; i < prepared.files.size(); ++i) {
    const Result<std::string> bytes = graph::npy_bytes(computed.tensors[i]);
    if (!bytes.ok()) return bytes.status();
    const fs::path folder = fs::path(prepared.files[i]).parent_path();
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) throw std::runtime_error(fmt::format("cannot make {}: {}", in_quotes(folder.string()), error.message()));
    write_parts(prepared.files[i], {*bytes});
  }
  return {};
}

void print_tensors(const Prepared& prepared, const Computed& computed) {
  for (std::size_t i = 0; i < prepared.fetch.size(); ++i) {
    const graph::Output& output = prepared.fetch[i];
    fmt::print("{}{}", i == 0 ? "" : "\n",
               tensor_text(output.node()->name(), fmt::format("result_{}", pin_name(output)), computed.tensors[i]));
  }
}

Json results_json(const Prepared& prepared, const Computed& computed) {
  Json results = Json::array(), seconds = Json::array();
  for (std::size_t i = 0; i < prepared.fetch.size(); ++i) {
    Json one = {{"name", label(prepared.fetch[i])}, {"pin", pin_name(prepared.fetch[i])}};
    one.update(tensor_json(computed.tensors[i]));
    if (!prepared.files.empty()) one["file"] = prepared.files[i];
    results.push_back(std::move(one));
  }
  for (const auto& [node, taken] : computed.metadata.seconds)
    seconds.push_back(Json{{"node", node}, {"seconds", taken}});
  return {{"ok", true}, {"results", results}, {"nodes", seconds}};
}

int refuse_run(const Status& status, bool json) {
  if (json) print_json(status_json(status));
  return refuse(status);
}

int show_plan(const Prepared& prepared, bool json) {
  const Result<GraphPlan> plan = plan_graph(*prepared.loaded.graph.scope.graph(), prepared.policy);
  if (!plan.ok()) return refuse_run(plan.status(), json);
  json ? print_json(plan_json(*plan)) : static_cast<void>(fmt::print("{}", plan_text(*plan)));
  return kOk;
}

}  // namespace

int run_graph(const RunRequest& request) {
  const Result<Prepared> prepared = prepare(request);
  if (!prepared.ok()) return refuse_run(prepared.status(), request.json);
  if (request.dry_run) return show_plan(*prepared, request.json);
  const Result<Computed> computed = compute(*prepared);
  if (!computed.ok()) return refuse_run(computed.status(), request.json);
  const Status written = write_files(*prepared, *computed);
  if (!written.ok()) return refuse_run(written, request.json);
  request.json ? print_json(results_json(*prepared, *computed)) : print_tensors(*prepared, *computed);
  return kOk;
}

}  // namespace convgrad::cli

#include "studio/server/routes.h"

#include <fmt/core.h>
#include <httplib.h>

#include <cstdio>
#include <functional>

#include "cli/engines.h"
#include "convgrad/system.h"
#include "studio/server/body.h"
#include "studio/server/gallery.h"
#include "studio/server/op_help.h"
#include "studio/server/page_files.h"

namespace convgrad::studio {
namespace {

using httplib::Request;
using httplib::Response;

constexpr const char* kJson = "application/json";
constexpr std::chrono::seconds kBodyTime{30};          // for all of a body, however slowly it comes
constexpr std::chrono::milliseconds kHeartbeat{2000};  // between two signs of life of a stream

void send(Response& response, int status, const std::string& text) {
  response.status = status;
  response.set_content(text, kJson);
}

void send(Response& response, const Json& json) {
  send(response, 200, json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

void refuse(Response& response, int status, const Status& why) {
  const Json json = {{"ok", false}, {"error", cli::status_json(why)}};
  send(response, status, json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// A refusal of the door's own: one sentence.
void refuse(Response& response, int status, const std::string& sentence) {
  refuse(response, status,
         Status(ErrorDetail{.code = status == 413 ? StatusCode::resource_exhausted : StatusCode::invalid_argument,
                            .message = sentence,
                            .argument = "request",
                            .rule = status == 413 ? "resource" : "graph-file"}));
}

void send(Response& response, const Answer& answer, double seconds) {
  if (answer.end == End::answered) return send(response, answer.message.head.value("status", 500), answer.message.body);
  const bool late = answer.end == End::late;
  refuse(response, 503,
         Status(ErrorDetail{
             .code = late ? StatusCode::resource_exhausted : StatusCode::internal,
             .message = late ? fmt::format("the answer took longer than {} seconds, and was given up", seconds)
                             : std::string("the process that computes has ended; the next request starts it again"),
             .argument = "request",
             .rule = late ? "resource" : "internal"}));
}

Visitor visitor_of(const Request& request, const std::vector<std::string>& texts) {
  return {request.method, texts[0], texts[1], texts[2], texts[3], texts[4]};
}

std::vector<std::string> door_headers(const Request& request) {
  std::vector<std::string> texts;
  for (const char* name : {"Host", "Origin", "Sec-Fetch-Site", "Cookie", "Content-Encoding"})
    texts.push_back(request.get_header_value(name));
  return texts;
}

// A page of its own and no redirection: a browser that another program sent here would not send the cookie, which
// is for requests of our own pages only, along a redirection.
void let_in(const Door& door, Response& response) {
  response.status = 200;
  response.set_header("Set-Cookie", door.cookie());
  response.set_content(
      "<!doctype html><html lang=\"en\"><title>convgrad studio</title>"
      "<meta http-equiv=\"refresh\" content=\"0;url=/\"></html>\n",
      "text/html; charset=utf-8");
}

bool is_too_large(const Request& request, const Budgets& budgets) {
  const std::string text = request.get_header_value("Content-Length");
  return text.size() > 15 || std::atoll(text.c_str()) > budgets.request_bytes;
}

// Handled: the request is answered, its body is never read.
bool guard(const House& house, const Request& request, Response& response) {
  for (const auto& [name, value] : safety_headers()) response.set_header(name, value);
  response.set_header("Cache-Control", "no-store");
  const std::vector<std::string> texts = door_headers(request);
  const Visitor visitor = visitor_of(request, texts);
  const bool address = request.method == "GET" && request.path == "/" && request.has_param("token");
  const std::string why =
      address ? house.door.address_refusal(visitor, request.get_param_value("token")) : house.door.refusal(visitor);
  if (!why.empty()) {
    refuse(response, 403, why);
  } else if (address) {
    let_in(house.door, response);
  } else if (is_too_large(request, house.options.budgets)) {
    refuse(response, 413, fmt::format("the request is larger than {} bytes", house.options.budgets.request_bytes));
  } else {
    return false;
  }
  return true;
}

// The body of a request, or no value and a refusal.
std::optional<std::string> read_body(const House& house, Response& response, const httplib::ContentReader& reader) {
  std::string body;
  bool large = false, slow = false;
  const Clock::time_point start = Clock::now();
  const bool read = reader([&](const char* bytes, std::size_t count) {
    large = body.size() + count > static_cast<std::size_t>(house.options.budgets.request_bytes);
    slow = Clock::now() - start > kBodyTime;
    if (large || slow) return false;
    body.append(bytes, count);
    return true;
  });
  if (read) return body;
  if (large) {
    refuse(response, 413, fmt::format("the request is larger than {} bytes", house.options.budgets.request_bytes));
  } else {
    refuse(response, 400, slow ? "the request came too slowly" : "the request ended before its body did");
  }
  return std::nullopt;
}

using BodyHandler = std::function<void(const Request&, Response&, std::string body)>;

httplib::Server::HandlerWithContentReader with_body(const House& house, BodyHandler handler) {
  return [&house, handler = std::move(handler)](const Request& request, Response& response,
                                                const httplib::ContentReader& reader) {
    std::optional<std::string> body = read_body(house, response, reader);
    if (body) handler(request, response, std::move(*body));
  };
}

Json about_json(const House& house) {
  const SystemInfo system = system_info();
  const Budgets& budgets = house.options.budgets;
  return {{"version", system.version},
          {"cpu", system.cpu},
          {"isa", cpu_isa()},
          {"engines", cli::engines_json()},
          {"folder", house.folder.path()},
          {"file", house.options.file.empty() ? Json() : Json(house.options.file)},
          {"budgets", Json{{"request_bytes", budgets.request_bytes},
                           {"nodes", budgets.nodes},
                           {"tensor_bytes", budgets.tensor_bytes},
                           {"seconds", budgets.seconds}}}};
}

// A process may have ended by another's question: each is asked twice.
Answer answer_of(const House& house, Worker& worker, const Message& question) {
  const double seconds = house.options.budgets.seconds;
  Answer answer = worker.ask(question, seconds);
  return answer.end == End::died ? worker.ask(question, seconds) : answer;
}

void ask(const House& house, Response& response, Worker& worker, const Message& question) {
  send(response, answer_of(house, worker, question), house.options.budgets.seconds);
}

void no_run(Response& response, const std::string& run) {
  refuse(response, 404, fmt::format("there is no run {}", cli::in_quotes(cli::printable(run))));
}

// Every event so far, then each as it comes, until the last.
void stream_events(const House& house, const Request& request, Response& response) {
  const std::string run = request.matches[1];
  const std::shared_ptr<EventLog> log = house.runs.find(run);
  if (log == nullptr) return no_run(response, run);
  auto seen = static_cast<std::size_t>(std::strtoull(request.get_header_value("Last-Event-ID").c_str(), nullptr, 10));
  response.set_chunked_content_provider("text/event-stream", [log, seen](std::size_t, httplib::DataSink& sink) mutable {
    std::string text = log->after(seen, kHeartbeat);
    if (text.empty() && !log->all_seen(seen)) text = ": still here\n\n";
    if (!text.empty() && !sink.write(text.data(), text.size())) return false;
    if (log->all_seen(seen)) sink.done();
    return true;
  });
}

// Questions about the results of a run go to the process that has them.
void look(const House& house, const Request& request, Response& response, const char* what) {
  const std::string run = request.matches[1];
  if (house.runs.find(run) == nullptr) return no_run(response, run);
  Json head = {{"do", what}, {"run", run}};
  for (const char* name : {"node", "pin", "at"}) head[name] = request.get_param_value(name);
  if (request.has_param("limit")) head["limit"] = std::atoll(request.get_param_value("limit").c_str());
  ask(house, response, house.runner, {std::move(head)});
  if (response.status != 200 || std::string_view(what) != "tensor_npy") return;
  const std::string bytes = std::move(response.body);
  response.headers.erase("Content-Type");
  response.set_content(bytes, "application/octet-stream");
}

// A question whose body names the run.
void look_by_body(const House& house, Response& response, const char* what, std::string body) {
  const Result<Body> read = Body::read(body, {"run", "a", "b", "node", "index", "from"});
  const Result<std::string> run = read.ok() ? read->string("run") : read.status();
  if (!run.ok()) return refuse(response, 400, run.status());
  if (house.runs.find(*run) == nullptr) return no_run(response, *run);
  ask(house, response, house.runner, {{{"do", what}, {"run", *run}}, std::move(body)});
}

void open_file(const House& house, const std::string& name, Response& response) {
  const Status named = Folder::check_name(name);
  if (!named.ok()) return refuse(response, 400, named);
  if (!house.folder.has(name)) return refuse(response, 404, fmt::format("there is no file {}", cli::in_quotes(name)));
  const Result<std::string> text = house.folder.read(name);
  if (!text.ok()) return refuse(response, 400, text.status());
  ask(house, response, house.answerer, {{{"do", "open"}, {"folder", house.folder.path()}}, *text});
  if (response.status != 200) return;
  send(response, 200, fmt::format(R"({{"page":{},"stamp":"{}"}})", response.body, stamp_of(*text)));
}

// What was written since the browser read it is not written over.
bool has_changed(const House& house, const std::string& name, const std::string& stamp) {
  const Result<std::string> text = house.folder.has(name) ? house.folder.read(name) : std::string();
  return !stamp.empty() && (!text.ok() || stamp_of(*text) != stamp);
}

void save_file(const House& house, const std::string& name, Response& response, std::string body) {
  const Status named = Folder::check_name(name);
  if (!named.ok()) return refuse(response, 400, named);
  const Result<Body> read = Body::read(body, {"page", "stamp"});
  if (!read.ok()) return refuse(response, 400, read.status());
  const Result<std::string> stamp =
      read->has("stamp") && read->text("stamp") != "null" ? read->string("stamp") : std::string();
  if (!stamp.ok()) return refuse(response, 400, stamp.status());
  if (has_changed(house, name, *stamp))
    return refuse(response, 409, fmt::format("the file {} has changed on disk", cli::in_quotes(name)));
  const Answer answer = answer_of(house, house.answerer, {{{"do", "save"}}, std::move(body)});
  send(response, answer, house.options.budgets.seconds);
  if (response.status != 200) return;
  const Status written = house.folder.write(name, answer.message.body);
  written.ok() ? send(response, Json{{"stamp", stamp_of(answer.message.body)}}) : refuse(response, 400, written);
}

void send_page_file(const House& house, const Request& request, Response& response) {
  const std::optional<PageFile> file = page_file(house.options.page, std::string_view(request.path).substr(1));
  if (!file) return refuse(response, 404, "there is no such page");
  const bool plain = file->gzip && request.get_header_value("Accept-Encoding").find("gzip") == std::string::npos;
  if (plain) return refuse(response, 406, "the page is sent compressed by gzip, which the request does not accept");
  if (file->gzip) response.set_header("Content-Encoding", "gzip");
  if (file->forever) {
    response.headers.erase("Cache-Control");
    response.set_header("Cache-Control", "private, max-age=31536000, immutable");
  }
  // By a provider: the library would compress what is set as content once more.
  const auto bytes = std::make_shared<const std::string>(file->bytes);
  response.set_content_provider(bytes->size(), file->type,
                                [bytes](std::size_t offset, std::size_t length, httplib::DataSink& sink) {
                                  return sink.write(bytes->data() + offset, length);
                                });
}

void add_reading_routes(httplib::Server& server, const House& house) {
  server.Get("/api/about", [&house](const Request&, Response& response) { send(response, about_json(house)); });
  server.Get("/api/ops", [](const Request&, Response& response) { send(response, 200, ops_with_help()); });
  server.Get("/api/gallery", [](const Request&, Response& response) { send(response, gallery_list()); });
  server.Get("/api/gallery/([^/]+)", [](const Request& request, Response& response) {
    const std::optional<std::string> scene = gallery_scene(request.matches[1]);
    scene ? send(response, 200, *scene) : refuse(response, 404, "the gallery has no such scene");
  });
  server.Get("/api/files", [&house](const Request&, Response& response) { send(response, house.folder.list()); });
  server.Get("/api/files/([\\s\\S]+)",
             [&house](const Request& request, Response& response) { open_file(house, request.matches[1], response); });
  server.Get("/api/runs/([^/]+)/events",
             [&house](const Request& request, Response& response) { stream_events(house, request, response); });
  server.Get("/api/runs/([^/]+)/tensor",
             [&house](const Request& request, Response& response) { look(house, request, response, "tensor"); });
  server.Get("/api/runs/([^/]+)/npy",
             [&house](const Request& request, Response& response) { look(house, request, response, "tensor_npy"); });
  server.Get("/(?!api/).*",
             [&house](const Request& request, Response& response) { send_page_file(house, request, response); });
}

void add_asking_routes(httplib::Server& server, const House& house) {
  for (const char* what : {"infer", "differentiate", "gradcheck", "plan", "export", "import", "npy"}) {
    server.Post(fmt::format("/api/{}", what),
                with_body(house, [&house, what](const Request&, Response& response, std::string body) {
                  ask(house, response, house.answerer, {{{"do", what}}, std::move(body)});
                }));
  }
  for (const char* what : {"difference", "explain"}) {
    server.Post(fmt::format("/api/{}", what),
                with_body(house, [&house, what](const Request&, Response& response, std::string body) {
                  look_by_body(house, response, what, std::move(body));
                }));
  }
  server.Post("/api/run", with_body(house, [&house](const Request&, Response& response, std::string body) {
                send(response, Json{{"run", house.runs.start(std::move(body))}});
              }));
  server.Post("/api/runs/([^/]+)/cancel",
              with_body(house, [&house](const Request& request, Response& response, const std::string&) {
                const std::string run = request.matches[1];
                house.runs.cancel(run) ? send(response, Json{{"ok", true}}) : no_run(response, run);
              }));
  server.Put("/api/files/([\\s\\S]+)",
             with_body(house, [&house](const Request& request, Response& response, std::string body) {
               save_file(house, request.matches[1], response, std::move(body));
             }));
}

// The path and no query: that may hold the token.
void log_request(const Request& request, const Response& response) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const Json line = {{"time", std::chrono::duration<double>(now).count()},
                     {"method", request.method},
                     {"path", request.path},
                     {"status", response.status},
                     {"bytes", response.body.size()}};
  fmt::print(stderr, "{}\n", line.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

void add_routes(httplib::Server& server, const House& house) {
  using Handled = httplib::Server::HandlerResponse;
  server.set_pre_routing_handler([&house](const Request& request, Response& response) {
    return guard(house, request, response) ? Handled::Handled : Handled::Unhandled;
  });
  add_reading_routes(server, house);
  add_asking_routes(server, house);
  server.set_error_handler(httplib::Server::HandlerWithResponse([](const Request&, Response& response) {
    if (!response.body.empty()) return Handled::Unhandled;
    refuse(response, response.status,
           response.status == 404 ? "there is no such request" : "the request is not understood");
    return Handled::Handled;
  }));
  server.set_exception_handler([](const Request&, Response& response, const std::exception_ptr&) {
    refuse(response, 500, Status::internal("the studio could not answer"));
  });
  if (house.options.verbose) server.set_logger(log_request);
}

}  // namespace convgrad::studio

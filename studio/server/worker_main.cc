#include "studio/server/worker_main.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <condition_variable>
#include <deque>
#include <fstream>
#include <mutex>
#include <thread>

#include "convgrad/npy.h"
#include "studio/server/explain_cell.h"
#include "studio/server/page_run.h"
#include "studio/server/questions.h"
#include "studio/server/tensors.h"

namespace convgrad::studio {
namespace {

constexpr std::int64_t kMostElements = 65'536;   // of one slice
constexpr std::int64_t kMostSteps = 10'000'000;  // of one loop

// Memory that the budget does not plan (workspaces, JSON, results whose sizes only a run tells) ends in a refused
// allocation. Not RLIMIT_AS: a GPU's driver reserves far more addresses than it uses. What is taken already, as by a
// sanitizer, is left alone.
void limit_memory(const Budgets& budgets) {
  const auto most = static_cast<rlim_t>(4 * budgets.tensor_bytes + (std::int64_t{4} << 30));
  std::int64_t pages = 0;  // in the end the sixth number: what RLIMIT_DATA counts
  std::ifstream statm("/proc/self/statm");
  for (int number = 0; number < 6; ++number) statm >> pages;
  if (static_cast<rlim_t>(pages * sysconf(_SC_PAGESIZE)) >= most / 2) return;
  const rlimit limit{most, most};
  setrlimit(RLIMIT_DATA, &limit);
}

// Messages in their order; a stop takes effect when it is read.
class Inbox {
 public:
  Inbox() : reader_([this] { read(); }) { reader_.detach(); }

  Message next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !waiting_.empty(); });
    return take(waiting_.begin());
  }
  // The first question about the run that goes on, if one waits.
  std::optional<Message> next_look() {
    const std::lock_guard lock(mutex_);
    for (auto message = waiting_.begin(); message != waiting_.end(); ++message) {
      if (is_look(message->head.value("do", ""))) return take(message);
    }
    return std::nullopt;
  }

  // Of the run that goes on.
  const std::atomic<bool>& begin_run(const std::string& run) {
    const std::lock_guard lock(mutex_);
    run_ = run;
    reason_.clear();
    stopped_ = stopped_run_ == run;  // it was stopped while it waited
    return stopped_;
  }
  std::string reason() const {
    const std::lock_guard lock(mutex_);
    return reason_;
  }
  static bool is_look(const std::string& what) {
    return what == "tensor" || what == "tensor_npy" || what == "difference" || what == "explain";
  }

 private:
  Message take(const std::deque<Message>::iterator& which) {
    Message message = std::move(*which);
    waiting_.erase(which);
    return message;
  }
  void read() {
    while (std::optional<Message> message = read_message(STDIN_FILENO)) {
      const std::lock_guard lock(mutex_);
      if (message->head.value("do", "") == "stop") {
        stop(message->head);
      } else {
        waiting_.push_back(std::move(*message));
        changed_.notify_one();
      }
    }
    _exit(0);  // the door is gone
  }
  void stop(const Json& head) {
    stopped_run_ = head.value("run", "");
    reason_ = head.value("reason", "cancelled");
    if (stopped_run_ == run_) stopped_ = true;
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Message> waiting_;
  std::string run_, stopped_run_, reason_;
  std::atomic<bool> stopped_ = false;
  std::thread reader_;
};

Json refusal_json(const Status& status) { return {{"ok", false}, {"error", cli::status_json(status)}}; }

class Desk {
 public:
  explicit Desk(const Budgets& budgets) : budgets_(budgets) {}

  void work() {
    while (true) handle(inbox_.next());
  }

 private:
  void handle(const Message& message) {
    try {
      const std::string what = message.head.value("do", "");
      what == "run" ? run(message) : answer(message, answer_to(what, message));
    } catch (const std::bad_alloc&) {
      answer(message, Status::out_of_memory());
    } catch (const std::exception& error) {
      answer(message, Status::internal(error.what()));
    }
  }

  void answer(const Message& question, const Result<std::string>& text) {
    const std::string body =
        text.ok() ? *text : refusal_json(text.status()).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (!write_message(STDOUT_FILENO, {{{"id", question.head["id"]}, {"status", text.ok() ? 200 : 400}}, body}))
      _exit(0);
  }

  Result<std::string> answer_to(const std::string& what, const Message& message) {
    if (Inbox::is_look(what)) return look(what, message);
    if (what == "open") return opened_page(message.body, message.head.value("folder", ""));
    if (what == "save") return saved_page(message.body, budgets_);
    const Question question = find_question(what);
    return question == nullptr ? Result<std::string>(Status::internal("there is no such question"))
                               : question(message.body, budgets_);
  }

  Result<std::string> look(const std::string& what, const Message& message) {
    const Json& head = message.head;
    if (run_ == nullptr || head.value("run", "") != run_name_)
      return cli::complain({.rule = "graph-fetch",
                            .argument = "run",
                            .reason = "the results of that run are gone",
                            .got = cli::in_quotes(cli::printable(head.value("run", ""))),
                            .wanted = "the last run"});
    if (what == "explain") return explain_cell(*run_, message.body);
    if (what == "difference") return difference(message);
    const graph::PagePin pin{head.value("node", ""), head.value("pin", "")};
    const Result<graph::Tensor> tensor = run_->tensor(pin);
    if (!tensor.ok()) return tensor.status();
    if (what == "tensor_npy") return graph::npy_bytes(*tensor);
    const std::int64_t limit = std::clamp<std::int64_t>(head.value("limit", kMostElements), 0, kMostElements);
    Result<Json> slice = slice_json(*tensor, head.value("at", ""), limit);
    if (!slice.ok()) return slice.status();
    (*slice)["stats"] = run_->stats(pin);
    return slice->dump();
  }

  Result<std::string> difference(const Message& message) const {
    const Result<Body> body = Body::read(message.body, {"run", "a", "b"});
    if (!body.ok()) return body.status();
    const Result<graph::PagePin> a = body->pin("a"), b = body->pin("b");
    if (!a.ok()) return a.status();
    if (!b.ok()) return b.status();
    const Result<graph::Tensor> first = run_->tensor(*a), second = run_->tensor(*b);
    if (!first.ok()) return first.status();
    if (!second.ok()) return second.status();
    const Result<Json> difference = difference_json(*first, *second);
    return difference.ok() ? Result<std::string>(difference->dump()) : difference.status();
  }

  Result<RunRequest> request_of(std::string_view text) const {
    const Result<Body> body = Body::read(text, {"page", "fetch", "loop", "engine"});
    if (!body.ok()) return body.status();
    Result<graph::Page> page = body->page(budgets_.nodes);
    if (!page.ok()) return page.status();
    Result<std::string> engine = body->engine();
    if (!engine.ok()) return engine.status();
    RunRequest request{.page = std::move(*page), .engine = std::move(*engine)};
    if (body->has("fetch")) {
      Result<std::vector<graph::PagePin>> fetch = body->pins("fetch");
      if (!fetch.ok()) return fetch.status();
      request.fetch = std::move(*fetch);
    }
    if (!body->has("loop")) return request;
    const Result<Body> loop = Body::read(body->text("loop"), {"steps", "watch"});
    if (!loop.ok()) return loop.status();
    const Result<std::int64_t> steps = loop->integer("steps");
    if (!steps.ok()) return steps.status();
    if (*steps < 1 || *steps > kMostSteps)
      return refused_member("steps", std::to_string(*steps), "1 to " + std::to_string(kMostSteps));
    request.steps = *steps;
    if (!loop->has("watch")) return request;
    Result<std::vector<graph::PagePin>> watch = loop->pins("watch");
    if (!watch.ok()) return watch.status();
    request.watch = std::move(*watch);
    return request;
  }

  void run(const Message& message) {
    run_name_ = message.head.value("run", "");
    const std::atomic<bool>& stopped = inbox_.begin_run(run_name_);
    const auto tell = [&](const char* event, const Json& data) {
      Json head = {{"id", message.head["id"]}, {"event", event}};
      if (std::string_view(event) != "done") head["more"] = true;
      if (!write_message(STDOUT_FILENO, {head, data.dump(-1, ' ', false, Json::error_handler_t::replace)})) _exit(0);
    };
    run_ = nullptr;
    Json done;
    try {
      done = run_page(message.body, stopped, tell);
    } catch (const std::bad_alloc&) {
      done = {{"ok", false}, {"seconds", 0}, {"peak_bytes", 0}, {"cancelled", false}, {"reason", "memory"}};
    }
    if (stopped) {
      done["reason"] = inbox_.reason();
      done["cancelled"] = inbox_.reason() == "cancelled";
    }
    tell("done", done);
  }

  Json run_page(std::string_view body, const std::atomic<bool>& stopped,
                const std::function<void(const char*, const Json&)>& tell) {
    Result<RunRequest> request = request_of(body);
    Result<std::shared_ptr<PageRun>> made = request.ok() ? PageRun::prepare(std::move(*request)) : request.status();
    if (!made.ok())
      return {{"ok", false},        {"seconds", 0},        {"peak_bytes", 0},
              {"cancelled", false}, {"reason", "refused"}, {"error", cli::status_json(made.status())}};
    run_ = *made;
    const auto pause = [this] {
      while (const std::optional<Message> question = inbox_.next_look()) handle(*question);
    };
    return run_->go({budgets_, cache_, stopped, tell, pause});
  }

  const Budgets budgets_;
  Inbox inbox_;
  ResultCache cache_;
  std::shared_ptr<PageRun> run_;
  std::string run_name_;
};

}  // namespace

int run_worker(const Budgets& budgets) {
  signal(SIGINT, SIG_IGN);  // a terminal's interrupt is the door's to answer
  limit_memory(budgets);
  Desk(budgets).work();
  return 0;
}

}  // namespace convgrad::studio

#include "studio/server/runs.h"

#include <fmt/core.h>

namespace convgrad::studio {
namespace {

constexpr std::size_t kMostEvents = 50'000;  // of a run; a listener that comes later misses the first of a long loop
constexpr std::size_t kMostRuns = 32;        // whose events are kept
// A run that is told to stop looks up between chunks of work; one that does not is ended with its process.
constexpr std::chrono::milliseconds kObeys{150};
constexpr std::chrono::milliseconds kTick{25};

std::string done_text(double seconds, const std::string& reason) {
  const Json done = {{"ok", false},
                     {"seconds", seconds},
                     {"peak_bytes", 0},
                     {"cancelled", reason == "cancelled"},
                     {"reason", reason.empty() ? "crash" : reason}};
  return done.dump();
}

}  // namespace

void EventLog::add(std::string_view event, std::string_view data) {
  const std::lock_guard lock(mutex_);
  const std::size_t number = forgotten_ + events_.size() + 1;
  events_.push_back(fmt::format("id: {}\nevent: {}\ndata: {}\n\n", number, event, data));
  if (events_.size() > kMostEvents) {
    events_.pop_front();
    ++forgotten_;
  }
  changed_.notify_all();
}

void EventLog::finish() {
  const std::lock_guard lock(mutex_);
  finished_ = true;
  changed_.notify_all();
}

std::string EventLog::after(std::size_t& seen, std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, wait, [&] { return finished_ || forgotten_ + events_.size() > seen; });
  std::string text;
  for (std::size_t i = seen > forgotten_ ? seen - forgotten_ : 0; i < events_.size(); ++i) text += events_[i];
  seen = forgotten_ + events_.size();
  return text;
}

bool EventLog::all_seen(std::size_t seen) const {
  const std::lock_guard lock(mutex_);
  return finished_ && seen >= forgotten_ + events_.size();
}

bool EventLog::wait_finished(std::chrono::milliseconds wait) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, wait, [&] { return finished_; });
}

Runs::Runs(Worker& worker, const Budgets& budgets)
    : worker_(worker), budgets_(budgets), watcher_([this] { watch(); }) {}

Runs::~Runs() {
  close();
  watcher_.join();
}

void Runs::close() {
  const std::lock_guard lock(mutex_);
  closing_ = true;
  if (active_) worker_.kill();
  changed_.notify_all();
}

std::shared_ptr<EventLog> Runs::find(const std::string& run) const {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(run);
  return found == logs_.end() ? nullptr : found->second;
}

// Stops the run before, waits for its end, and only then asks for the new one: the process that would have to be ended
// must not take the new run with it.
void Runs::wait_for_last() {
  std::shared_ptr<EventLog> last;
  {
    const std::lock_guard lock(mutex_);
    if (!active_) return;
    last = active_->log;
    stop("cancelled");
  }
  last->wait_finished(std::chrono::seconds(5));
}

std::string Runs::start(std::string body) {
  const std::lock_guard one(starting_);
  wait_for_last();
  Message question{{{"do", "run"}}, std::move(body)};
  std::string name;
  {
    const std::lock_guard lock(mutex_);
    name = std::to_string(++last_);
    const auto log = std::make_shared<EventLog>();
    logs_.emplace(name, log);
    names_.push_back(name);
    if (names_.size() > kMostRuns) {
      logs_.erase(names_.front());
      names_.pop_front();
    }
    active_ = Active{name, log, Clock::now(), Clock::now()};
    changed_.notify_all();
  }
  question.head["run"] = name;
  worker_.start(std::move(question), [this, name](const Message* message) { hear(name, message); });
  return name;
}

bool Runs::cancel(const std::string& run) {
  const std::lock_guard lock(mutex_);
  if (!logs_.contains(run)) return false;
  if (active_ && active_->name == run) stop("cancelled");
  return true;
}

// mutex_ is held.
void Runs::stop(const std::string& reason) {
  if (!active_->reason.empty()) return;
  active_->reason = reason;
  active_->kill_at = Clock::now() + kObeys;
  worker_.tell({{{"do", "stop"}, {"run", active_->name}, {"reason", reason}}});
}

void Runs::hear(const std::string& run, const Message* message) {
  const std::lock_guard lock(mutex_);
  if (!active_ || active_->name != run) return;
  const std::string event = message == nullptr ? "done" : message->head.value("event", "done");
  if (event == "step") active_->step_started = Clock::now();
  active_->log->add(event,
                    message != nullptr ? message->body : done_text(seconds_since(active_->started), active_->reason));
  if (event != "done") return;
  active_->log->finish();
  active_.reset();
}

// The clock of the run that goes on.
void Runs::watch() {
  std::unique_lock lock(mutex_);
  while (!closing_) {
    if (!active_) {
      changed_.wait(lock, [&] { return active_ || closing_; });
      continue;
    }
    if (seconds_since(active_->step_started) > budgets_.seconds) stop("time");
    if (active_->kill_at && Clock::now() > *active_->kill_at) {
      active_->kill_at.reset();
      worker_.kill();
    }
    changed_.wait_for(lock, kTick, [&] { return closing_; });
  }
}

}  // namespace convgrad::studio

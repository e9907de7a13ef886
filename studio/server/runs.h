// Runs as the door keeps them: the events so far, for any number of listeners, and the one that is going on.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "studio/server/clock.h"
#include "studio/server/worker.h"

namespace convgrad::studio {

// The events of one run, as text of a stream of server-sent events. Safe from many threads.
class EventLog {
 public:
  void add(std::string_view event, std::string_view data);
  void finish();
  // Events after the first `seen`, waiting for one at most that long; seen becomes the number of all.
  std::string after(std::size_t& seen, std::chrono::milliseconds wait);
  // Whether all there will ever be are among the first `seen`.
  bool all_seen(std::size_t seen) const;
  bool wait_finished(std::chrono::milliseconds wait);

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> events_;  // the latest; those before them are forgotten
  std::size_t forgotten_ = 0;
  bool finished_ = false;
};

// One run goes on at a time: a new one cancels the one before it.
class Runs {
 public:
  Runs(Worker& worker, const Budgets& budgets);
  ~Runs();

  // Answers the run's name. body is that of POST /api/run.
  std::string start(std::string body);
  std::shared_ptr<EventLog> find(const std::string& run) const;
  // False when there is no such run; nothing happens to one that has ended.
  bool cancel(const std::string& run);
  // Ends the run that goes on, for good: no other will start.
  void close();

 private:
  struct Active {
    std::string name;
    std::shared_ptr<EventLog> log;
    Clock::time_point started, step_started;
    std::string reason = {};                        // why it was stopped; empty: it was not
    std::optional<Clock::time_point> kill_at = {};  // when it has not obeyed by then
  };
  void stop(const std::string& reason);
  void hear(const std::string& run, const Message* message);
  void watch();
  void wait_for_last();

  Worker& worker_;
  const Budgets budgets_;
  std::mutex starting_;  // one start at a time
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<EventLog>> logs_;
  std::deque<std::string> names_;  // of logs_, oldest first
  std::optional<Active> active_;
  std::int64_t last_ = 0;
  bool closing_ = false;
  std::thread watcher_;
};

}  // namespace convgrad::studio

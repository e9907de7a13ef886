// The worker process as the door sees it: questions go in, answers come out, and it may end at any time.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "studio/server/budgets.h"
#include "studio/server/messages.h"

namespace convgrad::studio {

// How a question ended: with its answer, with the worker's end, or with the end of the time it was given.
enum class End { answered, died, late };
struct Answer {
  End end = End::died;
  Message message = {};
};

// Starts the process when it is first asked, and again after it has ended. Safe from many threads.
class Worker {
 public:
  // Called from a thread of the worker's: with each message of the answer (the last has no "more" in its head), or once
  // with null when the process has ended before the last. Must not call the worker.
  using Hear = std::function<void(const Message*)>;

  explicit Worker(const Budgets& budgets) : budgets_(budgets) {}
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  void start(Message question, Hear hear);
  // Waits for the answer. A question that takes longer ends the process.
  Answer ask(Message question, double seconds);
  // Tells the process something that has no answer; nothing happens when there is none.
  void tell(const Message& message);
  // Ends the process at once.
  void kill();

 private:
  struct Process {
    pid_t id = -1;
    int to = -1, from = -1;
    std::map<std::int64_t, Hear> open = {};
    std::mutex writing = {};  // of `to`
    Process(pid_t child, int write, int read) : id(child), to(write), from(read) {}
    bool write(const Message& message);
  };
  bool ensure_process();
  void read_answers(const std::shared_ptr<Process>& process);
  void end(const std::shared_ptr<Process>& process);

  const Budgets budgets_;
  std::mutex mutex_;  // of what follows; never held while a Hear runs
  std::shared_ptr<Process> process_;
  int readers_ = 0;  // threads that still listen to a process, one each
  std::condition_variable no_readers_;
  std::int64_t last_number_ = 0;
};

}  // namespace convgrad::studio

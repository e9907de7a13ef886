// posix_spawn of this very program, and one thread a process that reads what it says.
#include "studio/server/worker.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

extern char** environ;

namespace convgrad::studio {
namespace {

struct Pipe {
  int read = -1, write = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) == 0) {
      read = ends[0];
      write = ends[1];
    }
  }
};

pid_t spawn(const Budgets& budgets, int in, int out) {
  std::string bytes = std::to_string(budgets.tensor_bytes), nodes = std::to_string(budgets.nodes);
  char name[] = "convgrad", command[] = "studio-worker";
  char* const argv[] = {name, command, bytes.data(), nodes.data(), nullptr};
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_adddup2(&streams, in, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&streams, out, STDOUT_FILENO);
  // Sockets of visitors stay here: a browser would wait for their end as long as the worker lives.
  posix_spawn_file_actions_addclosefrom_np(&streams, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);  // the door's threads block signals
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t child = -1;
  if (posix_spawn(&child, "/proc/self/exe", &streams, &attributes, argv, environ) != 0) child = -1;
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&streams);
  return child;
}

void reap(pid_t child) {
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Worker::~Worker() {
  kill();
  std::unique_lock lock(mutex_);
  no_readers_.wait(lock, [&] { return readers_ == 0; });
}

bool Worker::ensure_process() {
  if (process_ != nullptr) return true;
  const Pipe questions, answers;
  const pid_t child = answers.write < 0 ? -1 : spawn(budgets_, questions.read, answers.write);
  for (const int theirs : {questions.read, answers.write}) close(theirs);
  if (child < 0) {
    for (const int ours : {questions.write, answers.read}) close(ours);
    return false;
  }
  process_ = std::make_shared<Process>(child, questions.write, answers.read);
  ++readers_;
  std::thread([this, process = process_] { read_answers(process); }).detach();
  return true;
}

bool Worker::Process::write(const Message& message) {
  const std::lock_guard lock(writing);
  return to >= 0 && write_message(to, message);
}

void Worker::start(Message question, Hear hear) {
  std::shared_ptr<Process> process;
  {
    const std::lock_guard lock(mutex_);
    question.head["id"] = ++last_number_;
    if (ensure_process()) {
      process = process_;
      process->open.emplace(last_number_, hear);
    }
  }
  // Of a process that has just ended hear is told by its reader.
  process == nullptr ? hear(nullptr) : static_cast<void>(process->write(question));
}

void Worker::tell(const Message& message) {
  std::shared_ptr<Process> process;
  {
    const std::lock_guard lock(mutex_);
    process = process_;
  }
  if (process != nullptr) static_cast<void>(process->write(message));
}

void Worker::kill() {
  const std::lock_guard lock(mutex_);
  if (process_ == nullptr) return;
  ::kill(process_->id, SIGKILL);
  process_ = nullptr;  // its reader sees it off; whoever asks next gets another
}

void Worker::read_answers(const std::shared_ptr<Process>& process) {
  while (const std::optional<Message> message = read_message(process->from)) {
    Hear hear;
    {
      const std::lock_guard lock(mutex_);
      const auto found = process->open.find(message->head.value("id", std::int64_t{0}));
      if (found == process->open.end()) continue;
      hear = found->second;
      if (!message->head.contains("more")) process->open.erase(found);
    }
    hear(&*message);
  }
  end(process);
}

void Worker::end(const std::shared_ptr<Process>& process) {
  std::map<std::int64_t, Hear> open;
  {
    const std::lock_guard lock(mutex_);
    ::kill(process->id, SIGKILL);  // it may have closed its end and live on
    reap(process->id);
    open.swap(process->open);
    if (process_ == process) process_ = nullptr;
  }
  {
    const std::lock_guard lock(process->writing);
    close(process->to);
    close(process->from);
    process->to = -1;
  }
  for (const auto& [number, hear] : open) hear(nullptr);
  const std::lock_guard lock(mutex_);
  --readers_;
  no_readers_.notify_all();
}

Answer Worker::ask(Message question, double seconds) {
  struct Waiting {
    std::mutex mutex;
    std::condition_variable changed;
    bool over = false;
    Answer answer = {};
  };
  const auto waiting = std::make_shared<Waiting>();
  start(std::move(question), [waiting](const Message* message) {
    const std::lock_guard lock(waiting->mutex);
    if (message != nullptr) waiting->answer = {End::answered, *message};
    waiting->over = true;
    waiting->changed.notify_all();
  });
  std::unique_lock lock(waiting->mutex);
  const auto over = [&] { return waiting->over; };
  if (waiting->changed.wait_for(lock, std::chrono::duration<double>(seconds), over)) return waiting->answer;
  lock.unlock();
  kill();
  return {End::late};
}

}  // namespace convgrad::studio

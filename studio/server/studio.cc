#include "studio/server/studio.h"

#include <fmt/core.h>
#include <httplib.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "studio/server/browser.h"
#include "studio/server/routes.h"

namespace convgrad::studio {
namespace {

constexpr std::size_t kConnections = 48;  // at once; a stream of events holds one
constexpr int kWaiting = 128;             // for one of these
constexpr const char* kLoopback = "127.0.0.1";

// Signals go to one thread that waits for them, so that nothing is done inside a handler.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return signals;
}

// One request a connection: a refused body is never taken for the next request, and no idle visitor holds a thread.
void set_limits(httplib::Server& server) {
  server.new_task_queue = [] { return new httplib::ThreadPool(kConnections); };
  server.set_keep_alive_max_count(1);
  server.set_read_timeout(3);
  server.set_write_timeout(5);
  server.set_tcp_nodelay(true);
}

// The port, or 0. The library lets 5 visitors wait for a thread, and one more waits a second for its next try: the
// socket is told again how many. listener lives as long as the server.
int bind(httplib::Server& server, int port, int& listener) {
  server.set_socket_options([&listener](auto socket) {  // without SO_REUSEPORT: two studios must not share a port
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    listener = socket;
  });
  const int bound = port == 0 ? server.bind_to_any_port(kLoopback) : server.bind_to_port(kLoopback, port) ? port : 0;
  return bound > 0 && listen(listener, kWaiting) == 0 ? bound : 0;
}

}  // namespace

int serve(const Options& options) {
  const sigset_t signals = block_signals();
  int listener = -1;
  httplib::Server server;
  set_limits(server);
  const int port = bind(server, options.port, listener);
  if (port == 0) {
    fmt::print(stderr, "convgrad: cannot listen on port {} of {}\n", options.port, kLoopback);
    return 1;
  }
  const Door door(port, new_token());
  const Folder folder(options.folder);
  Worker runner(options.budgets), answerer(options.budgets);
  Runs runs(runner, options.budgets);
  const House house{options, door, folder, runner, answerer, runs};
  add_routes(server, house);

  std::atomic<bool> ended = false;
  std::thread stopper([&] {
    int signal = 0;
    sigwait(&signals, &signal);
    runs.close();
    const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
    while (!ended && !server.is_running()) pause();  // the signal may come before the server listens
    server.stop();
    for (; !ended; pause()) {  // whoever still waits for an answer gets none
      for (Worker* worker : {&runner, &answerer}) worker->kill();
    }
  });
  fmt::print("{}\n", door.address());
  std::fflush(stdout);
  BrowserStart browser;
  if (options.open) browser.open(door.address());
  const bool served = server.listen_after_bind();
  ended = true;
  if (!served) kill(getpid(), SIGTERM);  // wakes the stopper
  stopper.join();
  return served ? 0 : 1;
}

}  // namespace convgrad::studio

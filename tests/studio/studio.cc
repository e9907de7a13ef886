#include "studio/studio.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

extern char** environ;

namespace convgrad::test {
namespace {

namespace fs = std::filesystem;

constexpr int kPatience = 20'000;  // milliseconds for an answer

std::string temporary_folder() {
  std::string path = testing::TempDir() + "convgrad-studio-test-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) std::abort();
  return path;
}

// Lines of a chunked body are a length in hex, then the bytes.
std::string unchunked(std::string_view text) {
  std::string body;
  while (!text.empty()) {
    const std::size_t end = text.find("\r\n");
    const std::size_t length = std::stoul(std::string(text.substr(0, end)), nullptr, 16);
    if (end == std::string_view::npos || length == 0) break;
    body += text.substr(end + 2, length);
    text.remove_prefix(std::min(text.size(), end + 2 + length + 2));
  }
  return body;
}

Reply reply_of(const std::string& text) {
  Reply reply;
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos || !text.starts_with("HTTP/1.1 ")) return reply;
  reply.status = std::stoi(text.substr(9, 3));
  reply.headers = text.substr(0, end + 2);
  reply.body = text.substr(end + 4);
  if (reply.headers.find("Transfer-Encoding: chunked") != std::string::npos) reply.body = unchunked(reply.body);
  return reply;
}

std::string read_to_end(int fd) {
  std::string text;
  char block[1 << 16];
  pollfd ready{fd, POLLIN, 0};
  while (poll(&ready, 1, kPatience) == 1) {
    const ssize_t count = read(fd, block, sizeof(block));
    if (count <= 0) break;
    text.append(block, static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

Json RunEvents::node(const std::string& id) const {
  Json found;
  for (const Event& event : all) {
    if (event.name == "node" && event.data["id"] == id) found = event.data;
  }
  return found;
}

std::size_t RunEvents::count(const std::string& name) const {
  return static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [&](const Event& event) { return event.name == name; }));
}

Studio::Studio(const std::vector<std::string>& options) : folder_(temporary_folder()) {
  output_ = temporary_folder();
  log_ = output_ + "/stderr";
  const std::string out = output_ + "/stdout";
  std::vector<std::string> words = {"sh",     "-c",       "cd \"$0\" && exec \"$@\"", folder_, CONVGRAD_PROGRAM,
                                    "studio", "--no-open"};
  words.insert(words.end(), options.begin(), options.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addopen(&streams, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_addopen(&streams, STDERR_FILENO, log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn(&process_, "/bin/sh", &streams, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&streams);
  for (int i = 0; i < 1000 && !address_.ends_with('\n'); ++i) {
    usleep(5000);
    address_ = read_file(out);
  }
  const std::size_t colon = address_.rfind(':'), token = address_.find("token=");
  if (token == std::string::npos) {
    ADD_FAILURE() << "the studio has not started: " << log();
    return;
  }
  port_ = std::stoi(address_.substr(colon + 1));
  token_ = address_.substr(token + 6, 64);
}

Studio::~Studio() {
  if (process_ > 0) {
    EXPECT_EQ(end(SIGTERM), 0) << log();
  }
  std::error_code ignored;
  for (const std::string& path : {folder_, output_}) fs::remove_all(path, ignored);
}

int Studio::end(int signal) {
  kill(process_, signal);
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

std::string Studio::log() const { return read_file(log_); }

int Studio::connect() const {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(port_));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof(to)), 0);
  return fd;
}

Reply Studio::raw(std::string_view bytes, bool close) const {
  const auto start = std::chrono::steady_clock::now();
  const int fd = connect();
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) break;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  if (close) shutdown(fd, SHUT_WR);
  Reply reply = reply_of(read_to_end(fd));
  ::close(fd);
  reply.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return reply;
}

Reply Studio::send(const Sent& sent) const {
  std::string text = sent.method + " " + sent.path + " HTTP/1.1\r\n";
  if (sent.headers.empty()) text += "Host: " + host() + "\r\nCookie: " + cookie() + "\r\n";
  for (const std::string& header : sent.headers) text += header + "\r\n";
  if (sent.method != "GET") text += "Content-Length: " + std::to_string(sent.body.size()) + "\r\n";
  return raw(text + "\r\n" + sent.body);
}

std::string Studio::start(const Json& body) const {
  const Reply reply = post("/api/run", body);
  EXPECT_EQ(reply.status, 200) << reply.body;
  return reply.json().value("run", "");
}

RunEvents Studio::events(const std::string& run) const {
  const Reply reply = get("/api/runs/" + run + "/events");
  EXPECT_EQ(reply.status, 200) << reply.body;
  RunEvents events;
  std::istringstream lines(reply.body);
  Event event;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("event: ")) event.name = line.substr(7);
    if (line.starts_with("data: ")) event.data = Json::parse(line.substr(6));
    if (line.empty() && !event.name.empty()) events.all.push_back(std::exchange(event, {}));
  }
  return events;
}

// Children of any of its threads.
std::vector<pid_t> Studio::workers() const {
  std::vector<pid_t> found;
  for (const fs::directory_entry& task : fs::directory_iterator("/proc/" + std::to_string(process_) + "/task")) {
    std::ifstream children(task.path() / "children");
    for (pid_t child = 0; children >> child;) found.push_back(child);
  }
  return found;
}

}  // namespace convgrad::test

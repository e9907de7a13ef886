// A studio of its own for a test: the program, started in an empty folder, and requests to it.
#pragma once

#include <sys/types.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace convgrad::test {

using Json = nlohmann::ordered_json;

struct Reply {
  int status = 0;  // 0: the studio closed the connection without a word
  std::string headers;
  std::string body;
  double seconds = 0;

  Json json() const { return Json::parse(body, nullptr, false); }
  std::string message() const { return json()["error"]["message"]; }
};

struct Sent {
  std::string method = "GET";
  std::string path = "/";
  std::string body = {};
  std::vector<std::string> headers = {};  // instead of Host and Cookie when there are any
};

// One event of a run.
struct Event {
  std::string name;
  Json data;
};
struct RunEvents {
  std::vector<Event> all;
  Json done() const { return all.empty() ? Json() : all.back().data; }
  Json node(const std::string& id) const;  // its last event; null when there is none
  std::size_t count(const std::string& name) const;
};

class Studio {
 public:
  explicit Studio(const std::vector<std::string>& options = {});
  // Ends it by SIGTERM; a test that has not ended it itself expects exit code 0.
  ~Studio();
  Studio(const Studio&) = delete;
  Studio& operator=(const Studio&) = delete;

  Reply send(const Sent& sent) const;
  Reply get(const std::string& path) const { return send({.path = path}); }
  Reply post(const std::string& path, const std::string& body) const {
    return send({.method = "POST", .path = path, .body = body});
  }
  Reply post(const std::string& path, const Json& body) const { return post(path, body.dump()); }
  // These bytes as they are; everything that comes back. The other side is closed after them when `close` says so.
  Reply raw(std::string_view bytes, bool close = false) const;
  // A connection that says nothing yet.
  int connect() const;

  // Starts a run and answers its name.
  std::string start(const Json& body) const;
  RunEvents events(const std::string& run) const;
  RunEvents run(const Json& body) const { return events(start(body)); }

  std::string host() const { return "127.0.0.1:" + std::to_string(port_); }
  std::string cookie() const { return "convgrad_studio_" + std::to_string(port_) + "=" + token_; }
  const std::string& address() const { return address_; }
  const std::string& token() const { return token_; }
  const std::string& folder() const { return folder_; }
  int port() const { return port_; }
  std::vector<pid_t> workers() const;
  std::string log() const;  // what it has written to stderr
  int end(int signal);      // answers the exit code

 private:
  std::string folder_, address_, token_, output_, log_;
  int port_ = 0;
  pid_t process_ = -1;
};

std::string read_file(const std::string& path);
void write_file(const std::string& path, std::string_view bytes);

}  // namespace convgrad::test

// Who comes in and who does not, and what every answer says.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <thread>

#include "studio/pages.h"
#include "studio/server/door.h"

namespace convgrad::test {
namespace {

double seconds_of(const std::function<void()>& action) {
  const auto start = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(Door, prints_one_address_with_a_token_that_is_never_the_same) {
  const Studio a, b;
  EXPECT_TRUE(a.address().starts_with("http://127.0.0.1:")) << a.address();
  EXPECT_EQ(std::count(a.address().begin(), a.address().end(), '\n'), 1);
  EXPECT_EQ(a.token().find_first_not_of("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(a.token().size(), 64u);
  EXPECT_NE(a.token(), b.token());
}

TEST(Door, listens_on_the_loopback_address_alone) {
  const Studio studio;
  std::ostringstream port;
  port << std::hex << std::uppercase << studio.port();
  std::istringstream lines(read_file("/proc/net/tcp") + read_file("/proc/net/tcp6"));
  int listening = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(":" + port.str() + " 0000") == std::string::npos || line.find(" 0A ") == std::string::npos) continue;
    ++listening;
    EXPECT_NE(line.find(" 0100007F:"), std::string::npos) << line;
  }
  EXPECT_EQ(listening, 1);
}

TEST(Door, takes_the_token_once_and_gives_a_cookie_for_it) {
  const Studio studio;
  const Reply reply = studio.send({.path = "/?token=" + studio.token(), .headers = {"Host: " + studio.host()}});
  EXPECT_EQ(reply.status, 200);
  EXPECT_NE(reply.headers.find("Set-Cookie: " + studio.cookie() + "; Path=/; HttpOnly; SameSite=Strict"),
            std::string::npos)
      << reply.headers;
  EXPECT_NE(reply.body.find("url=/\""), std::string::npos) << reply.body;
}

TEST(Door, refuses_a_wrong_or_missing_token) {
  const Studio studio;
  const std::string host = "Host: " + studio.host();
  std::string wrong = studio.token();
  wrong.back() = wrong.back() == '0' ? '1' : '0';
  const std::string name = "Cookie: convgrad_studio_" + std::to_string(studio.port()) + "=";
  for (const std::vector<std::string>& headers : {std::vector<std::string>{host},
                                                  {host, name},
                                                  {host, name + wrong},
                                                  {host, name + studio.token() + "0"},
                                                  {host, name + studio.token().substr(1)},
                                                  {host, "Cookie: other=" + studio.token()}}) {
    const Reply reply = studio.send({.path = "/api/about", .headers = headers});
    EXPECT_EQ(reply.status, 403) << headers.back();
    EXPECT_NE(reply.message().find("token"), std::string::npos) << reply.body;
  }
  EXPECT_EQ(studio.send({.path = "/?token=" + wrong, .headers = {host}}).status, 403);
  EXPECT_EQ(studio.send({.path = "/api/about?token=" + studio.token(), .headers = {host}}).status, 403);
  EXPECT_EQ(studio.send({.path = "/api/about", .headers = {host, "Cookie: a=b; " + studio.cookie()}}).status, 200);
}

TEST(Door, refuses_other_hosts_and_origins) {
  const Studio studio;
  const std::string port = std::to_string(studio.port()), cookie = "Cookie: " + studio.cookie();
  for (const std::string& host : {"evil.example:" + port, std::string("127.0.0.1"), "127.0.0.1:" + port + "1",
                                  "127.0.0.2:" + port, "127.0.0.1:" + port + ".evil.example", std::string()}) {
    const Reply reply = studio.send({.path = "/api/about", .headers = {"Host: " + host, cookie}});
    EXPECT_EQ(reply.status, 403) << host;
  }
  EXPECT_EQ(studio.send({.path = "/api/about", .headers = {cookie}}).status, 403);
  const std::string ours = "Host: " + studio.host();
  for (const std::string& origin :
       {std::string("http://evil.example"), std::string("null"), "https://127.0.0.1:" + port,
        "http://127.0.0.1:" + port + ".evil.example", std::string("http://127.0.0.1:1")}) {
    const Reply reply = studio.send({.path = "/api/about", .headers = {ours, cookie, "Origin: " + origin}});
    EXPECT_EQ(reply.status, 403) << origin;
    EXPECT_NE(reply.message().find("Origin"), std::string::npos) << reply.body;
  }
  for (const char* name : {"127.0.0.1", "localhost", "[::1]"}) {
    const std::string host = std::string(name) + ":" + port;
    EXPECT_EQ(
        studio.send({.path = "/api/about", .headers = {"Host: " + host, cookie, "Origin: http://" + host}}).status, 200)
        << name;
  }
}

TEST(Door, says_the_same_safe_headers_in_every_answer) {
  const Studio studio;
  const std::vector<Reply> replies = {studio.get("/api/about"), studio.get("/api/nothing"), studio.get("/"),
                                      studio.send({.path = "/", .headers = {"Host: evil"}})};
  for (const Reply& reply : replies) {
    for (const char* header : {"default-src 'none'; script-src 'self'", "frame-ancestors 'none'",
                               "X-Content-Type-Options: nosniff", "Referrer-Policy: no-referrer", "Cache-Control: "})
      EXPECT_NE(reply.headers.find(header), std::string::npos) << reply.status << " " << header;
    EXPECT_EQ(reply.headers.find("script-src 'self' 'unsafe"), std::string::npos);
  }
}

TEST(Door, compares_secrets_of_any_length) {
  EXPECT_TRUE(studio::same_secret("abc", "abc"));
  EXPECT_FALSE(studio::same_secret("abc", "abd"));
  EXPECT_FALSE(studio::same_secret("abc", "ab"));
  EXPECT_FALSE(studio::same_secret("abc", "abcd"));
  EXPECT_FALSE(studio::same_secret("abc", ""));
}

TEST(Door, ends_on_a_signal_while_others_wait_for_events) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Studio studio;
    const std::string run = studio.start({{"page", shrinking_page(0)}, {"loop", Json{{"steps", 10'000'000}}}});
    RunEvents heard;
    std::thread listener([&] { heard = studio.events(run); });
    usleep(100'000);
    int code = -1;
    EXPECT_LT(seconds_of([&] { code = studio.end(signal); }), 3);
    listener.join();
    EXPECT_EQ(code, 0);
    EXPECT_EQ(heard.done()["ok"], false);
  }
}

TEST(Door, writes_its_log_without_the_token) {
  const Studio studio({"--verbose"});
  studio.send({.path = "/?token=" + studio.token(), .headers = {"Host: " + studio.host()}});
  studio.get("/api/about");
  std::istringstream lines(studio.log());
  std::vector<Json> log;
  for (std::string line; std::getline(lines, line);) log.push_back(Json::parse(line));
  ASSERT_EQ(log.size(), 2u);
  EXPECT_EQ(log[1]["path"], "/api/about");
  EXPECT_EQ(log[1]["status"], 200);
  EXPECT_EQ(studio.log().find(studio.token()), std::string::npos);
}

TEST(Door, refuses_a_file_that_cannot_be_read) {
  for (const char* file : {"/nowhere/net.json", "/dev/null", "/"}) {
    const std::string command = std::string(CONVGRAD_PROGRAM) + " studio --no-open " + file + " >/dev/null 2>&1";
    EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 1) << file;
  }
}

TEST(Door, refuses_a_port_that_is_taken_and_one_that_is_none) {
  const Studio first;
  for (const std::string& port :
       {std::to_string(first.port()), std::string("65536"), std::string("-1"), std::string("x")}) {
    const std::string command = std::string(CONVGRAD_PROGRAM) + " studio --no-open --port " + port + " >/dev/null 2>&1";
    EXPECT_NE(std::system(command.c_str()), 0) << port;
  }
}

}  // namespace
}  // namespace convgrad::test

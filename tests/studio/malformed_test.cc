// Requests that no browser sends: each gets an answer, and the studio goes on.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <random>

#include "convgrad/graph/op_table.h"
#include "studio/pages.h"

namespace convgrad::test {
namespace {

void expect_alive(const Studio& studio) {
  const Reply reply = studio.post("/api/infer", body(small_page()));
  ASSERT_EQ(reply.status, 200) << reply.body;
  EXPECT_EQ(reply.json()["ok"], true);
}

std::string in_page(const std::string& nodes) { return R"({"page": {"convgrad": 1, "nodes": [)" + nodes + "]}}"; }

TEST(Malformed, bodies_are_refused_with_a_sentence) {
  const Studio studio;
  const std::string value =
      R"({"id": "a", "op": "Const", "attrs": {"value": {"dtype": "float", "shape": [1], "data": [)";
  const std::vector<std::string> bodies = {
      "",
      "{",
      "null",
      "[1, 2]",
      "{\"page\"}",
      "{\"page\": }",
      "{\"page\": {}} trailing",
      "{\"page\": {}, \"page\": {}}",
      "{\"page\": \"{\\\"convgrad\\\": 1}\"}",
      in_page(std::string(100'000, '[')),
      in_page(std::string(100'000, '[') + std::string(100'000, ']')),
      std::string(1'000'000, '{'),
      in_page(value + "NaN]}}}"),
      in_page(value + "1e999]}}}"),
      in_page(value + "99999999999999999999999999999999]}}}"),
      in_page(value + "1, 2]}}}"),
      in_page(R"({"id": "a", "op": "Const", "attrs": {"value": {"dtype": "float", "shape": [1e18], "data": []}}})"),
      in_page(
          R"({"id": "a", "op": "Const", "attrs": {"value": {"dtype": "float", "shape": [4611686018427387904, 4], "data": []}}})"),
      in_page("{\"id\": \"\xFF\xFE\", \"op\": \"Const\"}"),
      in_page("{\"id\": \"\\ud800\", \"op\": \"Const\"}"),
      in_page("{\"id\": \"a\", \"op\": \"Eval\"}"),
      in_page("{\"id\": \"a\", \"op\": \"Relu\", \"attrs\": {\"__import__\": \"os\"}}"),
      std::string("{\"page\": \0}", 11)};
  for (const std::string& text : bodies) {
    const Reply reply = studio.post("/api/infer", text);
    EXPECT_EQ(reply.status, 400) << text.substr(0, 80) << reply.body.substr(0, 200);
    EXPECT_FALSE(reply.message().empty()) << text.substr(0, 80);
  }
  expect_alive(studio);
}

TEST(Malformed, pages_that_cannot_be_built_name_their_nodes) {
  const Studio studio;
  const Json circle =
      page({node("a", "Relu"), node("b", "Relu")}, {edge("a", "b", "features"), edge("b", "a", "features")});
  const Json twice = page({counting("a", {1}), counting("a", {2})}, {});
  const Json nowhere = page({node("a", "Relu")}, {edge("ghost", "a", "features")});
  for (const Json& wrong : {circle, twice, nowhere}) {
    const Json answer = studio.post("/api/infer", body(wrong)).json();
    EXPECT_EQ(answer["ok"], false) << answer;
    EXPECT_FALSE(answer["errors"].empty());
    const RunEvents events = studio.run(body(wrong));
    EXPECT_EQ(events.done()["ok"], false) << wrong;
  }
  expect_alive(studio);
}

TEST(Malformed, lines_and_headers_get_an_answer_or_a_closed_door) {
  const Studio studio;
  const std::string cookie = "Cookie: " + studio.cookie() + "\r\n", host = "Host: " + studio.host() + "\r\n";
  const std::vector<std::string> requests = {
      "\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      std::string("\x16\x03\x01\0\0", 5) + "\r\n\r\n",
      "GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\n" + host + cookie + "\r\n",
      "GET /" + std::string(8000, 'a') + " HTTP/1.1\r\n" + host + cookie + "\r\n",
      "GET /api/files/" + std::string(8000, 'a') + " HTTP/1.1\r\n" + host + cookie + "\r\n",
      "GET / HTTP/1.1\r\nHost: " + std::string(20'000, 'a') + "\r\n\r\n",
      "DELETE /api/files/a.json HTTP/1.1\r\n" + host + cookie + "Content-Length: 0\r\n\r\n",
      "POST /api/infer HTTP/1.1\r\n" + host + cookie + "Content-Length: -5\r\n\r\n",
      "POST /api/infer HTTP/1.1\r\n" + host + cookie + "Content-Length: 99999999999999999999\r\n\r\n",
      "POST /api/infer HTTP/1.1\r\n" + host + cookie + "Transfer-Encoding: chunked\r\n\r\nzzz\r\n",
      "POST /api/infer HTTP/1.1\r\n" + host + cookie + "Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc"};
  for (const std::string& text : requests) {
    const Reply reply = studio.raw(text, true);
    EXPECT_TRUE(reply.status == 0 || reply.status >= 400) << text.substr(0, 60) << " " << reply.status;
    expect_alive(studio);
  }
}

TEST(Malformed, sizes_have_a_limit) {
  const Studio studio;
  const std::string head =
      "POST /api/infer HTTP/1.1\r\nHost: " + studio.host() + "\r\nCookie: " + studio.cookie() + "\r\n";
  const Reply stated = studio.raw(head + "Content-Length: 67108865\r\n\r\n");
  EXPECT_EQ(stated.status, 413);
  EXPECT_NE(stated.message().find("67108864 bytes"), std::string::npos) << stated.body;
  // Without a stated size the bytes are counted as they come.
  std::string chunks;
  const std::string chunk = "100000\r\n" + std::string(0x100000, ' ') + "\r\n";
  for (int i = 0; i < 66; ++i) chunks += chunk;
  const Reply counted = studio.raw(head + "Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\n\r\n");
  EXPECT_TRUE(counted.status == 413 || counted.status == 0) << counted.status;
  expect_alive(studio);
}

TEST(Malformed, senders_that_stop_or_leave_hold_nobody_up) {
  const Studio studio;
  const std::string start = "POST /api/infer HTTP/1.1\r\nHost: " + studio.host() + "\r\nCookie: " + studio.cookie() +
                            "\r\nContent-Length: 100\r\n\r\n{\"page\"";
  std::vector<int> slow;
  for (int i = 0; i < 30; ++i) {
    slow.push_back(studio.connect());
    const std::string part = i % 2 == 0 ? start : start.substr(0, 40);
    ASSERT_EQ(send(slow.back(), part.data(), part.size(), MSG_NOSIGNAL), static_cast<ssize_t>(part.size()));
  }
  const Reply meanwhile = studio.post("/api/infer", body(small_page()));
  EXPECT_EQ(meanwhile.status, 200);
  for (const int fd : slow) {
    char byte;
    EXPECT_EQ(recv(fd, &byte, 1, MSG_DONTWAIT), -1) << "the answer waited until slow senders were sent away";
    close(fd);
  }
  const Reply truncated = studio.raw(start, true);
  EXPECT_TRUE(truncated.status == 400 || truncated.status == 0) << truncated.status;
  expect_alive(studio);
}

TEST(Malformed, silent_senders_are_sent_away) {
  const Studio studio;
  const Reply reply = studio.raw("POST /api/infer HTTP/1.1\r\nHost: " + studio.host() +
                                 "\r\nCookie: " + studio.cookie() + "\r\nContent-Length: 100\r\n\r\n{");
  EXPECT_TRUE(reply.status == 400 || reply.status == 0) << reply.status;
  EXPECT_LT(reply.seconds, 8);
}

TEST(Malformed, paths_lead_nowhere) {
  const Studio studio;
  for (const char* path : {"/../../../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/assets/../../etc/passwd",
                           "//etc/passwd", "/%2e%2e/etc/passwd", "/api/../../etc/passwd", "/api", "/api/",
                           "/api/gallery/..%2findex", "/api/gallery/index.json", "/index.html%00.txt", "/\\..\\x"}) {
    const Reply reply = studio.get(path);
    EXPECT_TRUE(reply.status == 404 || reply.status == 400) << path << " " << reply.status;
    EXPECT_EQ(reply.body.find("root:"), std::string::npos) << path;
  }
}

// A call of tests/data/hostile.json as a page. Its tensors are placeholders, which have any shape and no elements.
Json hostile_page(const Json& one) {
  std::vector<Json> nodes, edges;
  for (const auto& [name, shape] : one["tensor_shapes"].items()) {
    nodes.push_back(node(name, "Placeholder", {{"dtype", "float"}, {"shape", shape}}));
    edges.push_back(edge(name, "y", name));
  }
  for (const char* name : {"input_sizes", "filter_sizes"}) {
    if (!one.contains(name)) continue;
    const Json value = {{"dtype", "int64"}, {"shape", one[name]["shape"]}, {"data", one[name]["value"]}};
    nodes.push_back(node(name, "Const", {{"value", value}}));
    edges.push_back(edge(name, "y", name));
  }
  Json attrs = one["attrs"];
  attrs["data_format"] = one["data_format"];
  nodes.push_back(node("y", one["op"], attrs));
  return page(nodes, edges);
}

TEST(Malformed, published_attacks_turn_their_block_red_and_nothing_else) {
  const Studio studio;
  std::ifstream file(CONVGRAD_TEST_DATA "/hostile.json");
  int told = 0;
  const Json cases = Json::parse(file)["cases"];
  for (const Json& one : cases) {
    if (graph::find_graph_op(one["op"].get<std::string>()) == nullptr) continue;
    Json beside = hostile_page(one);
    beside["nodes"].push_back(counting("beside", {2}));
    const Reply reply = studio.post("/api/infer", body(beside));
    ASSERT_TRUE(reply.status == 200 || reply.status == 400) << one["id"] << reply.body;
    const RunEvents events = studio.run(body(beside));
    ASSERT_FALSE(events.all.empty()) << one["id"];
    EXPECT_NE(events.done()["reason"], "crash") << one["id"];
    if (reply.status == 200) {
      EXPECT_EQ(events.node("beside")["ok"], true) << one["id"];
    }
    const Json also = one.value("also_accept", Json::array());
    const bool legal = one["expectation"] != "error" ||
                       std::any_of(also.begin(), also.end(), [](const Json& answer) { return answer != "error"; });
    const bool refused = reply.status == 400 || reply.json()["ok"] == false;
    EXPECT_TRUE(legal || refused) << one["id"] << reply.body;
    told += refused ? 1 : 0;
  }
  EXPECT_GT(told, 15);
  expect_alive(studio);
}

// Bytes of good requests, changed: cut, doubled, replaced. The seed is fixed; a failure prints the request's number.
TEST(Malformed, changed_requests_never_end_the_studio) {
  const Studio studio;
  std::mt19937 random(20'240'601);
  const auto below = [&](std::size_t count) { return static_cast<std::size_t>(random() % count); };
  const std::string head =
      " HTTP/1.1\r\nHost: " + studio.host() + "\r\nCookie: " + studio.cookie() + "\r\nContent-Length: ";
  const std::string text = body(small_page()).dump();
  const std::vector<std::string> targets = {"POST /api/infer",  "POST /api/run",         "POST /api/export",
                                            "POST /api/npy",    "PUT /api/files/a.json", "POST /api/differentiate",
                                            "POST /api/explain"};
  for (int i = 0; i < 400; ++i) {
    std::string changed = text;
    for (std::size_t k = 0; k <= below(4); ++k) {
      const std::size_t at = below(changed.size());
      switch (below(4)) {
        case 0: changed[at] = static_cast<char>(random()); break;
        case 1: changed.erase(at, below(20) + 1); break;
        case 2: changed.insert(at, changed.substr(below(changed.size()), below(60))); break;
        default: changed.insert(at, std::string(1 + below(8), "[]{}\",:-9e"[below(10)])); break;
      }
      if (changed.empty()) changed = "{";
    }
    const std::string& target = targets[below(targets.size())];
    std::string request = target + head + std::to_string(changed.size()) + "\r\n\r\n" + changed;
    if (i % 5 == 0) request[below(request.size())] = static_cast<char>(random());
    const Reply reply = studio.raw(request, true);
    EXPECT_TRUE(reply.status == 0 || (reply.status >= 200 && reply.status < 500))
        << i << " " << target << " " << reply.status;
  }
  expect_alive(studio);
  EXPECT_EQ(studio.log(), "");
}

}  // namespace
}  // namespace convgrad::test

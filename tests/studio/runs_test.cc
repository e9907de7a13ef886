// Runs: events, what is computed again, loops, budgets, and how they end.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <set>
#include <thread>

#include "convgrad/plan.h"
#include "studio/pages.h"

namespace convgrad::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

TEST(Runs, tell_every_node_with_its_values) {
  const Studio studio;
  const RunEvents events = studio.run(body(small_page()));
  EXPECT_EQ(events.count("node"), 3u);
  const Json y = events.node("y");
  EXPECT_EQ(y["ok"], true);
  EXPECT_EQ(y["bytes"], 16);
  EXPECT_EQ(y["reused"], false);
  EXPECT_EQ(y["outputs"][0]["pin"], "output");
  EXPECT_EQ(y["outputs"][0]["dtype"], "float");
  EXPECT_EQ(y["outputs"][0]["shape"], Json({1, 2, 2, 1}));
  EXPECT_EQ(y["outputs"][0]["head"], Json({"37", "47", "67", "77"}));
  EXPECT_EQ(y["outputs"][0]["stats"]["mean"], 57);
  EXPECT_EQ(y["outputs"][0]["stats"]["histogram"]["counts"].size(), 32u);
  EXPECT_EQ(events.done()["ok"], true);
  EXPECT_EQ(events.done()["cancelled"], false);
  EXPECT_FALSE(events.done().contains("reason"));
  EXPECT_EQ(events.done()["peak_bytes"], (9 + 4 + 4) * 4);
}

TEST(Runs, compute_again_only_what_an_edit_changes) {
  const Studio studio;
  Json edited = small_page();
  edited["nodes"].push_back(node("twice", "AddV2"));
  edited["edges"].push_back(edge("y", "twice", "x"));
  edited["edges"].push_back(edge("y", "twice", "y"));
  studio.run(body(edited));
  edited["nodes"][1]["attrs"]["value"]["data"][0] = 2;
  const RunEvents second = studio.run(body(edited));
  EXPECT_EQ(second.node("x")["reused"], true);
  EXPECT_EQ(second.node("w")["reused"], false);
  EXPECT_EQ(second.node("y")["reused"], false);
  EXPECT_EQ(second.node("y")["outputs"][0]["head"], Json({"38", "49", "71", "82"}));
  EXPECT_EQ(second.node("twice")["outputs"][0]["head"], Json({"76", "98", "142", "164"}));
  edited["nodes"][2]["attrs"]["padding"] = "SAME";
  const RunEvents third = studio.run(body(edited));
  EXPECT_EQ(third.node("w")["reused"], true);
  EXPECT_EQ(third.node("y")["reused"], false);
}

TEST(Runs, go_on_beside_a_wrong_block) {
  const Studio studio;
  Json mixed = small_page();
  mixed["nodes"].push_back(node("bad", "Conv2D", {{"strides", {1, 0, 1, 1}}, {"padding", "VALID"}}));
  mixed["edges"].push_back(edge("x", "bad", "input"));
  mixed["edges"].push_back(edge("w", "bad", "filter"));
  mixed["nodes"].push_back(node("behind", "Relu"));
  mixed["edges"].push_back(edge("bad", "behind", "features"));
  mixed["nodes"].push_back(node("alone", "Relu"));
  const RunEvents events = studio.run(body(mixed));
  EXPECT_EQ(events.node("y")["outputs"][0]["head"][0], "37");
  EXPECT_EQ(events.node("bad")["error"]["rule"], "stride-range");
  EXPECT_EQ(events.node("behind")["ok"], false);
  EXPECT_EQ(events.node("alone")["error"]["argument"], "features");
  EXPECT_EQ(events.done()["ok"], false);
  EXPECT_FALSE(events.done().contains("reason"));
}

TEST(Runs, compute_what_is_fetched_and_no_more) {
  const Studio studio;
  Json request = body(small_page());
  request["fetch"] = Json::array({Json::array({"w", "output"})});
  const RunEvents events = studio.run(request);
  EXPECT_EQ(events.count("node"), 1u);
  EXPECT_EQ(events.node("w")["ok"], true);
}

TEST(Runs, that_are_refused_say_why) {
  const Studio studio;
  for (const char* text : {"", "{", "[]", "{}", R"({"page": 3})", R"({"page": {"convgrad": 2, "nodes": []}})",
                           R"({"page": {"convgrad": 1, "nodes": []}, "more": 1})",
                           R"({"page": {"convgrad": 1, "nodes": []}, "loop": {"steps": 0}})",
                           R"({"page": {"convgrad": 1, "nodes": []}, "loop": {"steps": 1e99}})"}) {
    const Reply reply = studio.post("/api/run", std::string(text));
    ASSERT_EQ(reply.status, 200) << text;
    const Json done = studio.events(reply.json()["run"]).done();
    EXPECT_EQ(done["reason"], "refused") << text;
    EXPECT_FALSE(done["error"]["message"].get<std::string>().empty());
  }
}

Json on_engine(const Json& page, const std::string& engine) { return {{"page", page}, {"engine", engine}}; }

TEST(Engines, are_chosen_by_name_and_their_results_kept_apart) {
  const Studio studio;
  const Json automatic = studio.run(body(small_page())).node("y");
  EXPECT_EQ(automatic["engine"], "cpu");
  for (const bool again : {false, true}) {
    const std::string run = studio.start(on_engine(small_page(), "reference"));
    const RunEvents events = studio.events(run);
    EXPECT_EQ(events.node("y")["engine"], "reference");
    EXPECT_EQ(events.node("y")["reused"], again);
    EXPECT_EQ(events.node("y")["outputs"][0]["head"], Json({"37", "47", "67", "77"}));
    EXPECT_FALSE(events.node("x").contains("engine"));
    const Json cell = {{"run", run}, {"node", "y"}, {"index", {0, 0, 0, 0}}};
    EXPECT_EQ(studio.post("/api/explain", cell).json()["engine"], "reference");
  }
  EXPECT_EQ(studio.run(body(small_page())).node("y")["reused"], true);
}

TEST(Engines, are_told_of_blocks_that_depend_on_variables) {
  const Studio studio;
  const Json moving =
      page({counting("x", {1, 3, 3, 1}), counting("start", {2, 2, 1, 1}),
            node("w", "Variable", {{"dtype", "float"}, {"shape", {2, 2, 1, 1}}}), node("begin", "Assign"),
            node("y", "Conv2D", {{"strides", {1, 1, 1, 1}}, {"padding", "VALID"}})},
           {edge("w", "begin", "ref", "ref"), edge("start", "begin", "value"), edge("x", "y", "input"),
            edge("w", "y", "filter", "ref")});
  Json request = on_engine(moving, "reference");
  request["loop"] = {{"steps", 3}};
  const Json y = studio.run(request).node("y");
  EXPECT_EQ(y["engine"], "reference") << y;
  EXPECT_EQ(y["outputs"][0]["head"][3], "77");
}

TEST(Engines, that_cannot_be_used_are_refused_in_the_library_s_words) {
  const Studio studio;
  std::vector<std::string> names = {"warp"};
  for (const EngineInfo& engine : all_engines()) {
    if (!engine.obstacle.empty()) names.push_back(engine.name);
  }
  for (const std::string& name : names) {
    const std::string sentence(check_engine(name).message());
    ASSERT_FALSE(sentence.empty());
    for (const Json& tried : {small_page(), page({counting("alone", {1})}, {})}) {
      const RunEvents events = studio.run(on_engine(tried, name));
      EXPECT_EQ(events.all.size(), 1u);
      EXPECT_EQ(events.done()["reason"], "refused");
      EXPECT_EQ(events.done()["error"]["rule"], "engine-name");
      EXPECT_EQ(events.done()["error"]["message"], sentence);
    }
    Json question = on_engine(small_page(), name);
    question["node"] = "y";
    const Reply reply = studio.post("/api/plan", question);
    EXPECT_EQ(reply.status, 400);
    EXPECT_EQ(reply.message(), sentence);
  }
  Json number = body(small_page());
  number["engine"] = 3;
  EXPECT_EQ(studio.run(number).done()["error"]["argument"], "engine");
}

TEST(Loops, step_variables_from_their_starting_values) {
  const Studio studio;
  const Json request = {{"page", shrinking_page(0.5)},
                        {"loop", Json{{"steps", 3}, {"watch", Json::array({Json::array({"learn", "out"})})}}}};
  for (int time = 0; time < 2; ++time) {  // every run starts anew
    const RunEvents events = studio.run(request);
    EXPECT_EQ(events.done()["ok"], true);
    EXPECT_EQ(events.done()["steps"], 3);
    EXPECT_EQ(events.node("weight")["outputs"][0]["head"][0], "1");
    const Event last_step =
        *std::find_if(events.all.rbegin(), events.all.rend(), [](const Event& event) { return event.name == "step"; });
    EXPECT_EQ(last_step.data, Json({{"step", 3}, {"of", 3}, {"watch", Json::array({1.0})}}));
  }
}

TEST(Loops, keep_the_order_of_control_wires) {
  const Studio studio;
  Json ordered = shrinking_page(0.5);
  ordered["nodes"].insert(ordered["nodes"].begin(), node("after", "Identity"));  // made first, were it not for the wire
  ordered["edges"].push_back(edge("weight", "after", "input", "ref"));
  ordered["edges"].push_back(Json::array({Json::array({"learn", "^"}), Json::array({"after", "^"})}));
  const RunEvents events = studio.run({{"page", ordered}, {"loop", Json{{"steps", 2}}}});
  EXPECT_EQ(events.node("after")["outputs"][0]["head"][0], "2");
  EXPECT_EQ(events.node("weight")["outputs"][0]["head"][0], "2");
  // An Assign that another block waits for is no starting value: every step has it.
  ordered["edges"].push_back(Json::array({Json::array({"begin", "^"}), Json::array({"gradient", "^"})}));
  EXPECT_EQ(studio.run({{"page", ordered}, {"loop", Json{{"steps", 2}}}}).node("after")["outputs"][0]["head"][0], "4");
}

TEST(Loops, run_once_without_a_loop) {
  const Studio studio;
  const RunEvents events = studio.run(body(shrinking_page(0.5)));
  EXPECT_EQ(events.node("learn")["outputs"][0]["head"][0], "4");
  EXPECT_EQ(events.count("step"), 0u);
}

TEST(Loops, answer_about_their_tensors_while_they_go_on) {
  const Studio studio;
  const std::string run = studio.start({{"page", shrinking_page(0)}, {"loop", Json{{"steps", 10'000'000}}}});
  usleep(100'000);
  const Reply tensor = studio.get("/api/runs/" + run + "/tensor?node=learn&pin=out&at=");
  EXPECT_EQ(tensor.status, 200) << tensor.body;
  EXPECT_EQ(tensor.json()["data"], Json({"8"}));
  const Reply shapes = studio.post("/api/infer", body(small_page()));
  EXPECT_EQ(shapes.json()["ok"], true);
  EXPECT_EQ(studio.post("/api/runs/" + run + "/cancel", std::string()).status, 200);
  const RunEvents events = studio.events(run);
  EXPECT_EQ(events.done()["reason"], "cancelled");
  EXPECT_EQ(events.node("learn")["outputs"][0]["head"][0], "8");
  const double seconds = events.done()["seconds"];
  EXPECT_LE(static_cast<double>(events.count("step")), seconds * 20 + 2);
}

TEST(Loops, give_a_sign_of_life_every_two_seconds) {
  const Studio studio;
  const std::string run = studio.start(body(long_page()));
  const int fd = studio.connect();
  const std::string request = "GET /api/runs/" + run + "/events HTTP/1.1\r\nHost: " + studio.host() +
                              "\r\nCookie: " + studio.cookie() + "\r\n\r\n";
  ASSERT_EQ(write(fd, request.data(), request.size()), static_cast<ssize_t>(request.size()));
  std::string text;
  const auto start = Clock::now();
  while (text.find(": still here\n\n") == std::string::npos && text.find("event: done") == std::string::npos &&
         seconds_since(start) < 10) {
    char block[65536];
    const ssize_t count = read(fd, block, sizeof(block));
    if (count <= 0) break;
    text.append(block, static_cast<std::size_t>(count));
  }
  close(fd);
  EXPECT_TRUE(text.find(": still here\n\n") != std::string::npos || seconds_since(start) < 2) << text;
}

TEST(Ends, cancelled_at_once_inside_a_long_block) {
  const Studio studio;
  const std::string run = studio.start(body(long_page()));
  usleep(500'000);
  EXPECT_EQ(studio.post("/api/runs/" + run + "/cancel", std::string()).status, 200);
  const Json done = studio.events(run).done();
  EXPECT_EQ(done["cancelled"], true);
  EXPECT_EQ(done["reason"], "cancelled");
  EXPECT_EQ(done["ok"], false);
  EXPECT_EQ(studio.run(body(small_page())).done()["ok"], true);
  EXPECT_EQ(studio.post("/api/runs/" + run + "/cancel", std::string()).status, 200);  // over already
  EXPECT_EQ(studio.post("/api/runs/77/cancel", std::string()).status, 404);
}

TEST(Ends, by_the_next_run) {
  const Studio studio;
  const std::string first = studio.start(body(long_page()));
  usleep(200'000);
  EXPECT_EQ(studio.run(body(small_page())).done()["ok"], true);
  EXPECT_EQ(studio.events(first).done()["reason"], "cancelled");
}

TEST(Ends, with_its_process_and_the_next_works) {
  const Studio studio;
  const std::string run = studio.start(body(long_page()));
  usleep(300'000);
  const std::vector<pid_t> workers = studio.workers();
  ASSERT_EQ(workers.size(), 1u);
  kill(workers[0], SIGKILL);
  const Json done = studio.events(run).done();
  EXPECT_EQ(done["ok"], false);
  EXPECT_EQ(done["reason"], "crash");
  const Reply gone = studio.get("/api/runs/" + run + "/tensor?node=h&pin=output&at=");
  EXPECT_EQ(gone.status, 400);
  EXPECT_NE(gone.message().find("gone"), std::string::npos) << gone.body;
  EXPECT_EQ(studio.run(body(small_page())).done()["ok"], true);
}

TEST(Ends, of_a_process_between_requests_are_not_noticed) {
  const Studio studio;
  ASSERT_EQ(studio.post("/api/infer", body(small_page())).status, 200);
  for (const pid_t worker : studio.workers()) kill(worker, SIGKILL);
  usleep(100'000);
  EXPECT_EQ(studio.post("/api/infer", body(small_page())).status, 200);
  EXPECT_EQ(studio.workers().size(), 1u);  // the dead one is gone for good
}

TEST(Budgets, of_time_end_a_run) {
  const Studio studio({"--seconds", "0.5"});
  const Json done = studio.run(body(long_page())).done();
  EXPECT_EQ(done["reason"], "time");
  EXPECT_EQ(done["cancelled"], false);
  // A loop may go on: each of its steps is short.
  const std::string run = studio.start({{"page", shrinking_page(0)}, {"loop", Json{{"steps", 10'000'000}}}});
  usleep(900'000);
  studio.post("/api/runs/" + run + "/cancel", std::string());
  EXPECT_EQ(studio.events(run).done()["reason"], "cancelled");
}

TEST(Budgets, of_time_end_a_question) {
  const Studio studio({"--seconds", "0.3"});
  Json slow = body(long_page());
  slow["style"] = "test_case";
  const Reply reply = studio.post("/api/export", slow);
  EXPECT_EQ(reply.status, 503);
  EXPECT_NE(reply.message().find("0.3 seconds"), std::string::npos) << reply.body;
  EXPECT_EQ(studio.post("/api/infer", body(small_page())).status, 200);
}

TEST(Budgets, of_memory_refuse_the_block_and_no_other) {
  const Studio studio({"--memory", "64"});
  Json large = page({counting("a", {4096, 1}), counting("b", {1, 8192}), node("sum", "AddV2"), counting("c", {2})},
                    {edge("a", "sum", "x"), edge("b", "sum", "y")});
  const RunEvents events = studio.run(body(large));
  EXPECT_EQ(events.node("sum")["error"]["code"], "resource_exhausted");
  EXPECT_EQ(events.node("sum")["error"]["rule"], "resource");
  EXPECT_EQ(events.node("c")["ok"], true);
  EXPECT_EQ(events.done()["reason"], "memory");
  EXPECT_EQ(events.done()["peak_bytes"], (4096 + 8192 + 2) * 4);
}

TEST(Budgets, of_nodes_are_said_before_anything_is_built) {
  const Studio studio;
  Json many = Json::array();
  for (int i = 0; i < 20'001; ++i) many.push_back({{"id", std::to_string(i)}, {"op", "Relu"}});
  const Reply reply = studio.post("/api/infer", body({{"convgrad", 1}, {"nodes", many}, {"edges", Json::array()}}));
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.json()["error"]["rule"], "resource");
  EXPECT_NE(reply.message().find("20000"), std::string::npos) << reply.body;
}

TEST(Clients, many_at_once_get_their_own_answers) {
  const Studio studio;
  std::vector<std::thread> clients;
  std::atomic<int> right = 0;
  for (int i = 0; i < 24; ++i) {
    clients.emplace_back([&, i] {
      Json page = small_page();
      page["nodes"][0]["id"] = "x" + std::to_string(i);
      page["edges"][0][0][0] = "x" + std::to_string(i);
      for (int k = 0; k < 5; ++k) {
        const Reply reply = studio.post("/api/infer", body(page));
        right += reply.status == 200 && reply.json()["nodes"][0]["id"] == "x" + std::to_string(i) ? 1 : 0;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 24 * 5);
}

TEST(Clients, hear_the_same_events_and_can_come_later) {
  const Studio studio;
  const std::string run = studio.start({{"page", shrinking_page(0.5)}, {"loop", Json{{"steps", 2000}}}});
  RunEvents heard[3];
  std::vector<std::thread> clients;
  for (RunEvents& events : heard) clients.emplace_back([&] { events = studio.events(run); });
  for (std::thread& client : clients) client.join();
  const RunEvents later = studio.events(run);
  for (const RunEvents& events : heard) {
    ASSERT_EQ(events.all.size(), later.all.size());
    EXPECT_EQ(events.done(), later.done());
  }
  const Reply rest = studio.send({.path = "/api/runs/" + run + "/events",
                                  .headers = {"Host: " + studio.host(), "Cookie: " + studio.cookie(),
                                              "Last-Event-ID: " + std::to_string(later.all.size() - 1)}});
  EXPECT_TRUE(rest.body.starts_with("id: " + std::to_string(later.all.size()) + "\nevent: done\n")) << rest.body;
}

}  // namespace
}  // namespace convgrad::test

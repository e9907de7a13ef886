// The files of the folder, and of no other.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "convgrad/graph/page.h"
#include "studio/pages.h"

namespace convgrad::test {
namespace {

namespace fs = std::filesystem;

Reply put(const Studio& studio, const std::string& name, const Json& body) {
  return studio.send({.method = "PUT", .path = "/api/files/" + name, .body = body.dump()});
}

TEST(Files, are_saved_listed_and_opened) {
  const Studio studio;
  EXPECT_EQ(studio.get("/api/files").json(), Json::array());
  const Reply saved = put(studio, "a%20page.json", body(small_page()));
  ASSERT_EQ(saved.status, 200) << saved.body;
  const Json files = studio.get("/api/files").json();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_EQ(files[0]["name"], "a page.json");
  EXPECT_EQ(files[0]["bytes"], read_file(studio.folder() + "/a page.json").size());
  const Json opened = studio.get("/api/files/a%20page.json").json();
  EXPECT_EQ(opened["stamp"], saved.json()["stamp"]);
  EXPECT_EQ(opened["page"]["nodes"].size(), 3u);
  EXPECT_EQ(studio.run(body(opened["page"])).node("y")["outputs"][0]["head"][0], "37");
  EXPECT_EQ(std::distance(fs::directory_iterator(studio.folder()), {}), 1) << "nothing but the page is left behind";
}

TEST(Files, keep_what_others_wrote_meanwhile) {
  const Studio studio;
  const std::string stamp = put(studio, "p.json", body(small_page())).json()["stamp"];
  Json next = body(small_page());
  next["stamp"] = stamp;
  next["page"]["nodes"][0]["name"] = "the input";
  const Reply second = put(studio, "p.json", next);
  ASSERT_EQ(second.status, 200) << second.body;
  EXPECT_NE(second.json()["stamp"], stamp);
  const std::string before = read_file(studio.folder() + "/p.json");
  const Reply late = put(studio, "p.json", next);  // with the old stamp
  EXPECT_EQ(late.status, 409);
  EXPECT_NE(late.message().find("changed on disk"), std::string::npos);
  EXPECT_EQ(read_file(studio.folder() + "/p.json"), before);
  fs::remove(studio.folder() + "/p.json");
  EXPECT_EQ(put(studio, "p.json", next).status, 409);  // it was removed, which is a change too
  next.erase("stamp");
  EXPECT_EQ(put(studio, "p.json", next).status, 200);
}

TEST(Files, of_two_pages_share_no_tensor) {
  const Studio studio;
  const Json one = page({counting("t", {100})}, {});
  Json other = one;
  other["nodes"][0]["attrs"]["value"]["data"][0] = 7;
  ASSERT_EQ(put(studio, "one.json", body(one)).status, 200);
  ASSERT_EQ(put(studio, "other.json", body(other)).status, 200);
  const auto first = [&](const std::string& name) -> int {
    return studio.get("/api/files/" + name).json()["page"]["nodes"][0]["attrs"]["value"]["data"][0];
  };
  EXPECT_EQ(first("one.json"), 1);
  EXPECT_EQ(first("other.json"), 7);
}

TEST(Files, may_have_tensors_beside_them) {
  const Studio studio;
  graph::Tensor tensor(graph::DT_FLOAT, {100});
  tensor.flat<float>().setConstant(3);
  const graph::Page page = {.nodes = {{.id = "t", .op = "Const", .attrs = {{"value", tensor}}}}};
  ASSERT_TRUE(graph::save_page(page, studio.folder() + "/big.json").ok());
  ASSERT_TRUE(fs::is_regular_file(studio.folder() + "/t.npy"));
  const Json opened = studio.get("/api/files/big.json").json();
  EXPECT_EQ(opened["page"]["nodes"][0]["attrs"]["value"]["data"], Json(std::vector<int>(100, 3)));
}

TEST(Files, of_other_folders_and_kinds_are_refused) {
  const Studio studio;
  const std::string secret = studio.folder() + "-secret.json";
  write_file(secret, small_page().dump());
  fs::create_symlink(secret, studio.folder() + "/link.json");
  mkfifo((studio.folder() + "/pipe.json").c_str(), 0600);
  fs::create_directory(studio.folder() + "/folder.json");
  write_file(studio.folder() + "/.hidden.json", small_page().dump());
  write_file(studio.folder() + "/notes.txt", "x");
  const std::string beside = fs::path(secret).filename().string();
  for (const std::string& name :
       {"../" + beside, "..%2f" + beside, "%2e%2e%2f" + beside, "..%5c" + beside, std::string("%2fetc%2fpasswd"),
        std::string("/etc/passwd"), std::string("link.json"), std::string("pipe.json"), std::string("folder.json"),
        std::string(".hidden.json"), std::string("notes.txt"), std::string("a%00.json"), std::string("a%0a.json"),
        std::string("folder.json/x.json"), std::string("C:x.json"), std::string(300, 'a') + ".json",
        std::string("%ff.json")}) {
    const Reply read = studio.get("/api/files/" + name);
    EXPECT_TRUE(read.status == 400 || read.status == 404) << name << " " << read.status << read.body;
    EXPECT_EQ(read.body.find("Conv2D"), std::string::npos) << name;
    if (name == "%ff.json") continue;  // writing it is legal: file names are bytes
    const Reply written = put(studio, name, body(page({}, {})));
    EXPECT_NE(written.status, 200) << name;
  }
  EXPECT_EQ(read_file(secret), small_page().dump());
  EXPECT_TRUE(fs::is_symlink(studio.folder() + "/link.json"));
  EXPECT_EQ(studio.get("/api/files").json(), Json::array());
  fs::remove(secret);
}

TEST(Files, that_are_no_pages_say_so) {
  const Studio studio;
  write_file(studio.folder() + "/bad.json", "{\"convgrad\": 1");
  const Reply reply = studio.get("/api/files/bad.json");
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.json()["error"]["rule"], "graph-file");
  EXPECT_EQ(put(studio, "x.json", Json{{"page", 3}}).status, 400);
  EXPECT_EQ(put(studio, "x.json", Json::object()).status, 400);
  EXPECT_FALSE(fs::exists(studio.folder() + "/x.json"));
  EXPECT_EQ(studio.get("/api/files/none.json").status, 404);
}

TEST(Files, tensors_of_a_page_stay_in_the_folder) {
  const Studio studio;
  Json page = small_page();
  page["nodes"][0]["attrs"]["value"] = {{"dtype", "float"}, {"shape", {1}}, {"npy", "../x.npy"}};
  write_file(studio.folder() + "/p.json", page.dump());
  EXPECT_EQ(studio.get("/api/files/p.json").status, 400);
  page["nodes"][0]["attrs"]["value"]["npy"] = "x.npy";
  EXPECT_EQ(studio.post("/api/infer", body(page)).status, 400) << "a page that is sent has no folder";
}

}  // namespace
}  // namespace convgrad::test

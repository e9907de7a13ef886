// Every scene of the gallery runs and shows its numbers.
#include <gtest/gtest.h>

#include <cstdlib>

#include "studio/pages.h"
#include "support/cases.h"

namespace convgrad::test {
namespace {

void expect_scene(const Studio& studio, const Json& entry) {
  const std::string id = entry["id"];
  const Json scene = studio.get("/api/gallery/" + id).json();
  Json request = body(scene["page"]);
  if (scene.contains("loop")) request["loop"] = {{"steps", scene["loop"]["steps"]}, {"watch", scene["loop"]["watch"]}};
  const std::string run = studio.start(request);
  const RunEvents events = studio.events(run);
  EXPECT_EQ(events.done()["ok"], true) << id << events.done();
  EXPECT_TRUE(scene.contains("loop") || !scene["expect"].empty()) << id;
  for (const Json& expected : scene["expect"]) {
    const std::string node = expected["node"], pin = expected["pin"];
    const Json tensor = studio.get("/api/runs/" + run + "/tensor?node=" + node + "&pin=" + pin).json();
    EXPECT_EQ(tensor["data"], expected["data"]) << id << " " << node;
  }
  if (!scene.contains("loop")) return;
  std::vector<double> first, last;
  for (const Event& event : events.all) {
    if (event.name != "step") continue;
    last = event.data["watch"].get<std::vector<double>>();
    if (first.empty()) first = last;
  }
  ASSERT_FALSE(last.empty()) << id;
  EXPECT_LT(last[0], scene["loop"]["below"][0]) << id;
  EXPECT_GT(first[0], 5 * last[0]) << id << ": the loss falls";
}

TEST(Gallery, scenes_show_their_numbers) {
  const Studio studio;
  const Json list = studio.get("/api/gallery").json();
  ASSERT_GE(list.size(), 10u);
  for (const Json& entry : list) {
    for (const char* field : {"id", "title", "text", "group"}) EXPECT_FALSE(entry[field].get<std::string>().empty());
    expect_scene(studio, entry);
  }
  EXPECT_EQ(studio.get("/api/gallery/none").status, 404);
}

// The index repeats the numbers of tests/data/scenes.json, which were read off pictures.
TEST(Gallery, has_the_six_scenes_with_the_numbers_of_their_pictures) {
  const Studio studio;
  int found = 0;
  const auto scenes = load("scenes.json");
  for (const auto& scene : scenes.at("scenes")) {
    const Json list = studio.get("/api/gallery").json();
    for (const Json& entry : list) {
      if (entry["title"] != scene.at("id")) continue;
      ++found;
      const Json expect = studio.get("/api/gallery/" + entry["id"].get<std::string>()).json()["expect"];
      std::vector<double> numbers;
      for (const Json& text : expect.back()["data"]) numbers.push_back(std::atof(text.get<std::string>().c_str()));
      EXPECT_EQ(numbers, scene.at("expected").back().at("values").get<std::vector<double>>()) << scene.at("id");
    }
  }
  EXPECT_EQ(found, 6);
}

}  // namespace
}  // namespace convgrad::test

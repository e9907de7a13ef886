// The scenes of tests/data/scenes.json through graph files and through enuSpace's pages, with their exact numbers.
#include "convgrad/graph/session.h"
#include "pages/pages.h"
#include "support/cases.h"

namespace convgrad::graph {
namespace {

struct Scene {
  const char* id;
  const char* file;
};
constexpr Scene kScenes[] = {{"Conv2D", "conv2d"},
                             {"Conv2DBackpropFilter", "conv2d_backprop_filter"},
                             {"Conv2DBackpropInput", "conv2d_backprop_input"},
                             {"Conv3D", "conv3d"},
                             {"Conv3DBackpropFilterV2", "conv3d_backprop_filter_v2"},
                             {"Conv3DBackpropInputV2", "conv3d_backprop_input_v2"}};

nlohmann::json expected_of(const string& scene) {
  const nlohmann::json scenes = convgrad::test::load("scenes.json");
  for (const auto& entry : scenes.at("scenes")) {
    if (entry.at("id") == scene) return entry.at("expected");
  }
  return {};
}

void expect_tensor(const Tensor& tensor, const nlohmann::json& expected) {
  EXPECT_EQ(tensor.dtype(), DT_FLOAT);
  EXPECT_EQ(tensor.shape().dim_sizes(), expected.at("shape").get<Shape>());
  std::vector<double> values;
  for (int64 i = 0; i < tensor.NumElements(); ++i) values.push_back(tensor.at(i));
  EXPECT_EQ(values, expected.at("values").get<std::vector<double>>());
}

// What the page fetches is the last thing that the scene shows.
void expect_scene(const Page& page, const string& scene) {
  const Result<PageGraph> built = build_page(page);
  ASSERT_TRUE(built.ok()) << built.status().message();
  std::vector<Tensor> outputs;
  const Status status = ClientSession(built->scope).Run(built->fetch, &outputs);
  ASSERT_TRUE(status.ok()) << status;
  ASSERT_EQ(outputs.size(), 1u);
  expect_tensor(outputs[0], expected_of(scene).back());
}

Result<Page> enuspace_page(const string& file) {
  const string stem = CONVGRAD_TEST_DATA "/enuspace/" + file;
  const bool dat = std::filesystem::exists(stem + ".dat");
  return page_from_enuspace(test::read_bytes(stem + ".json"), dat ? test::read_bytes(stem + ".dat") : string());
}

TEST(Scenes, of_graph_files_have_their_numbers) {
  for (const Scene& scene : kScenes) {
    const Result<Page> page = load_page(CONVGRAD_SOURCE_DIR "/examples/graphs/" + string(scene.file) + ".json");
    ASSERT_TRUE(page.ok()) << page.status().message();
    expect_scene(*page, scene.id);
  }
}

TEST(Scenes, of_enuspace_pages_have_their_numbers) {
  for (const Scene& scene : kScenes) {
    const Result<Page> page = enuspace_page(scene.file);
    ASSERT_TRUE(page.ok()) << scene.id << page.status().message();
    expect_scene(*page, scene.id);
  }
}

TEST(Scenes, go_to_enuspace_and_back_with_their_numbers) {
  for (const Scene& scene : kScenes) {
    const Page page = load_page(CONVGRAD_SOURCE_DIR "/examples/graphs/" + string(scene.file) + ".json").value();
    const Result<string> text = page_to_enuspace(page);
    ASSERT_TRUE(text.ok()) << text.status().message();
    const Result<Page> back = page_from_enuspace(*text);
    ASSERT_TRUE(back.ok()) << back.status().message();
    expect_scene(*back, scene.id);
  }
}

TEST(Scenes, show_every_block_when_all_are_fetched) {
  Page page = enuspace_page("conv3d_backprop_filter_v2").value();
  page.fetch.insert(page.fetch.begin(), {"ID_1dx7uu0", "output"});
  const PageGraph built = build_page(page).value();
  std::vector<Tensor> outputs;
  ASSERT_TRUE(ClientSession(built.scope).Run(built.fetch, &outputs).ok());
  const nlohmann::json expected = expected_of("Conv3DBackpropFilterV2");
  ASSERT_EQ(outputs.size(), expected.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) expect_tensor(outputs[i], expected[i]);
}

TEST(GradientExample, has_the_gradients_of_its_sum) {
  const PageGraph built =
      build_page(load_page(CONVGRAD_SOURCE_DIR "/examples/graphs/gradients_of_conv3d.json").value()).value();
  std::vector<Tensor> outputs;
  ASSERT_TRUE(ClientSession(built.scope).Run(built.fetch, &outputs).ok());
  ASSERT_EQ(outputs.size(), 3u);
  const Tensor &x = std::get<Tensor>(built.nodes.at("x")->attrs().at("value")),
               &w = std::get<Tensor>(built.nodes.at("w")->attrs().at("value"));
  double sum = 0, by_x = 0, by_w = 0;  // y is linear in x and in w: sum(y) = <x, dx> = <w, dw>
  for (int64 i = 0; i < outputs[0].NumElements(); ++i) sum += outputs[0].at(i);
  for (int64 i = 0; i < x.NumElements(); ++i) by_x += x.at(i) * outputs[1].at(i);
  for (int64 i = 0; i < w.NumElements(); ++i) by_w += w.at(i) * outputs[2].at(i);
  EXPECT_NE(sum, 0);
  EXPECT_EQ(sum, by_x);  // quarters: exact in double
  EXPECT_EQ(sum, by_w);
}

}  // namespace
}  // namespace convgrad::graph

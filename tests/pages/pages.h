// Small pages and what tests ask of them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "convgrad/graph/page.h"

namespace convgrad::graph::test {

inline Tensor floats(const TensorShape& shape, std::initializer_list<float> values) {
  Tensor tensor(DT_FLOAT, shape);
  tensor.flat<float>().setValues(values);
  return tensor;
}

inline PageNode constant(const string& id, std::initializer_list<float> values) {
  return {.id = id, .op = "Const", .attrs = {{"value", floats({static_cast<int64>(values.size())}, values)}}};
}

inline PageEdge edge(const string& from, const string& to, const string& pin, const string& output = "output") {
  return {{from, output}, {to, pin}};
}

// y = x * w, a 2-D convolution that has all it needs.
inline Page conv_page() {
  return {.nodes = {{.id = "x", .op = "Const", .attrs = {{"value", floats({1, 2, 2, 1}, {1, 2, 3, 4})}}},
                    {.id = "w", .op = "Const", .attrs = {{"value", floats({1, 1, 1, 1}, {0.5F})}}},
                    {.id = "y",
                     .op = "Conv2D",
                     .attrs = {{"strides", std::vector<int64>{1, 1, 1, 1}}, {"padding", string("SAME")}}}},
          .edges = {edge("x", "y", "input"), edge("w", "y", "filter")},
          .fetch = {{"y", "output"}}};
}

// All elements: "0.5 1".
inline string numbers(const Tensor& tensor) {
  std::ostringstream text;
  for (int64 i = 0; i < tensor.NumElements(); ++i) text << (i > 0 ? " " : "") << tensor.at(i);
  return text.str();
}

inline string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// A folder that goes with the test.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("convgrad_pages_" + std::to_string(::getpid()))) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  string operator/(const string& name) const { return (path_ / name).string(); }
  string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

// Where a refusal points, and a word of its sentence.
struct Blame {
  string node, argument, word;
};
inline void expect_refused(const convgrad::Status& status, const Blame& blame) {
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.node(), blame.node) << status.message();
  EXPECT_EQ(status.argument(), blame.argument) << status.message();
  EXPECT_NE(status.message().find(blame.word), string::npos) << status.message();
  EXPECT_FALSE(status.rule().empty());
}

inline void expect_same_page(const Page& a, const Page& b) {
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    EXPECT_EQ(a.nodes[i].id, b.nodes[i].id);
    EXPECT_EQ(a.nodes[i].op, b.nodes[i].op);
    EXPECT_EQ(a.nodes[i].name, b.nodes[i].name);
    ASSERT_EQ(a.nodes[i].attrs.size(), b.nodes[i].attrs.size()) << a.nodes[i].id;
    for (const auto& [name, value] : a.nodes[i].attrs) {
      ASSERT_TRUE(b.nodes[i].attrs.contains(name)) << name;
      EXPECT_TRUE(same_value(value, b.nodes[i].attrs.at(name))) << a.nodes[i].id << "." << name;
    }
  }
  EXPECT_EQ(a.edges, b.edges);
  EXPECT_EQ(a.fetch, b.fetch);
  EXPECT_EQ(a.view, b.view);
}

}  // namespace convgrad::graph::test

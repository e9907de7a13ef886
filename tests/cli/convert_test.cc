// convert: pages, programs and drawings.
#include <gtest/gtest.h>

#include "cli/graphs.h"
#include "cli/program.h"
#include "convgrad/graph/page.h"

namespace convgrad::test {
namespace {

const char* const kResult =
    "y.result_output[1][2][2][1] float\nresult_output[0][0][0][0] 37.000000\nresult_output[0][0][1][0] 47.000000\n"
    "result_output[0][1][0][0] 67.000000\nresult_output[0][1][1][0] 77.000000\n";

std::string small_file() { return saved("small.json", small_page()); }

graph::Page small() { return graph::parse_page(small_page().dump()).value(); }

TEST(Convert, writes_a_graph_file_that_stays_as_it_is) {
  const std::string once = scratch("once.json"), twice = scratch("twice.json");
  EXPECT_EQ(program({"convert", small_file(), once}).code, 0);
  EXPECT_EQ(program({"convert", once, twice}).code, 0);
  EXPECT_EQ(read_file(once), read_file(twice));
  EXPECT_EQ(program({"run", once}).out, kResult);
}

TEST(Convert, writes_every_program_by_name_and_by_ending) {
  using graph::CodeStyle;
  const struct {
    const char *form, *ending;
    CodeStyle style;
  } rows[] = {{"cpp", ".cc", CodeStyle::cpp_graph},
              {"cpp", ".cpp", CodeStyle::cpp_graph},
              {"cpp-eager", "", CodeStyle::cpp_eager},
              {"python", ".py", CodeStyle::python_convgrad},
              {"tensorflow", "", CodeStyle::python_tensorflow},
              {"dot", ".dot", CodeStyle::graphviz},
              {"dot", ".gv", CodeStyle::graphviz}};
  for (const auto& row : rows) {
    const std::string wanted = graph::page_code(small(), row.style).value();
    const Outcome named = program({"convert", small_file(), "-", "--to", row.form});
    EXPECT_EQ(named.out, wanted) << row.form << named.err;
    if (*row.ending == '\0') continue;
    const std::string file = scratch("code") + row.ending;
    EXPECT_EQ(program({"convert", small_file(), file}).code, 0);
    EXPECT_EQ(read_file(file), wanted) << row.ending;
  }
}

TEST(Convert, goes_to_enuspace_and_back) {
  const std::string there = scratch("there.json"), back = scratch("back.json");
  const Outcome out = program({"convert", small_file(), there, "--to", "enuspace"});
  ASSERT_EQ(out.code, 0) << out.err;
  EXPECT_TRUE(read_file(there).starts_with("\xFF\xFE")) << "UTF-16 with its mark";
  EXPECT_EQ(program({"convert", there, back}).code, 0);
  EXPECT_EQ(program({"run", back, "--fetch", "y"}).out, kResult);
  EXPECT_EQ(program({"run", there, "--fetch", "y"}).out, kResult) << "known by its content";
}

TEST(Convert, refuses_forms_that_it_cannot_know) {
  expect_refused(program({"convert", small_file(), scratch("out.txt")}), "problem-string", "tells no form");
  expect_refused(program({"convert", small_file(), "-"}), "problem-string", "tells no form");
  expect_usage_error(program({"convert", small_file(), "-", "--to", "pyhton"}), "did you mean 'python'?");
  expect_usage_error(program({"convert", small_file()}), "OUT is required");
}

TEST(Convert, refuses_files_that_are_no_graphs) {
  write_file(scratch("bad.json"), "{\"convgrad\": 2}");
  expect_refused(program({"convert", scratch("bad.json"), scratch("o.json")}), "graph-file", "");
  write_file(scratch("bad16.json"), "\xFF\xFE{");
  EXPECT_EQ(program({"convert", scratch("bad16.json"), scratch("o.json")}).code, 2);
  write_file(scratch("block.json"), "{\"object\": [{\"symbol-name\": \"#Nothing\", \"id\": \"a\"}]}");
  EXPECT_EQ(program({"convert", scratch("block.json"), scratch("o.json")}).code, 2);
  expect_failed(program({"convert", scratch("none.json"), scratch("o.json")}), "cannot read");
  expect_failed(program({"convert", small_file(), "/no/such/folder/o.cc"}), "cannot write");
}

}  // namespace
}  // namespace convgrad::test

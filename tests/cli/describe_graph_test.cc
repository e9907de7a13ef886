// ops of graphs, schema, completion and the manual page: all from the tables.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "cli/program.h"
#include "convgrad/graph/page.h"

namespace convgrad::test {
namespace {

using nlohmann::json;

// What a shell command prints.
std::string shell(const std::string& command) {
  const int status = std::system((command + " > " + scratch("shell")).c_str());
  EXPECT_EQ(WEXITSTATUS(status), 0) << command;
  return read_file(scratch("shell"));
}

bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " > " + scratch("found")).c_str()) == 0;
}

TEST(GraphOps, json_has_the_rows_of_the_table) {
  const json all = json::parse(program({"ops", "--json"}).out);
  EXPECT_EQ(all["graph"], json::parse(graph::ops_json()));
}

TEST(GraphOps, list_names_every_op) {
  const std::string text = program({"ops"}).out;
  for (const graph::OpSpec* op : graph::all_graph_ops())
    EXPECT_NE(text.find("\n  " + op->name + " "), std::string::npos) << op->name;
}

TEST(GraphOps, one_op_shows_inputs_attributes_and_defaults) {
  const Outcome op = program({"ops", "Conv3DBackpropFilterV2"});
  EXPECT_EQ(op.code, 0) << op.err;
  EXPECT_TRUE(
      op.out.starts_with("Conv3DBackpropFilterV2(input, filter_sizes, out_backprop)\n"
                         "  Gradient of Conv3D with respect to the filter.\n"))
      << op.out;
  for (const char* line :
       {"  strides            list(int); needed\n", "  padding            SAME, VALID, EXPLICIT; needed\n",
        "  data_format        NDHWC, NCDHW; default \"NDHWC\"\n",
        "  dilations          list(int); default [1,1,1,1,1]\n",
        "  T                  half, bfloat16, float, double; the inputs decide it\n"})
    EXPECT_NE(op.out.find(line), std::string::npos) << line << "in\n" << op.out;
  EXPECT_TRUE(program({"ops", "Conv1D"}).out.starts_with("Conv1D(input, filter)\n"));
  expect_usage_error(program({"ops", "Const", "Add"}), "unexpected argument 'Add' after 'ops'");
  expect_usage_error(program({"ops", ""}), "the name of an op is missing");
}

TEST(GraphOps, an_unknown_op_gets_a_suggestion) {
  expect_refused(program({"ops", "Conv3DBackpropFilterV"}), "op-name", "did you mean 'Conv3DBackpropFilterV2'?");
  expect_refused(program({"ops", "conv2"}), "op-name", "did you mean 'Conv2D'?");
  expect_usage_error(program({"ops", "Add", "--json"}), "one of them");
}

TEST(GraphOps, the_reference_page_is_what_the_program_prints) {
  EXPECT_EQ(read_file(CONVGRAD_SOURCE_DIR "/docs/ops.md"), program({"ops", "--markdown"}).out)
      << "make it again: convgrad ops --markdown > docs/ops.md";
}

TEST(Schema, is_the_librarys) {
  const Outcome schema = program({"schema"});
  EXPECT_EQ(schema.code, 0);
  EXPECT_EQ(schema.out, graph::page_schema());
  EXPECT_TRUE(json::parse(schema.out).is_object());
}

TEST(Completion, refuses_other_shells) {
  expect_usage_error(program({"completion", "bahs"}), "there is no 'bahs'; did you mean 'bash'?");
  expect_usage_error(program({"completion"}), "SHELL is required");
}

TEST(Completion, names_every_command_and_option) {
  for (const char* name : {"bash", "zsh", "fish"}) {
    const std::string script = program({"completion", name}).out;
    for (const cli::Command& command : cli::all_commands()) {
      EXPECT_NE(script.find(command.help.name), std::string::npos) << name;
      for (const cli::Option& option : command.options) {
        if (option.is_word()) continue;
        const std::string wanted =
            std::string(name) == "fish" ? "-l " + std::string(option.name.substr(2)) : std::string(option.name);
        EXPECT_NE(script.find(wanted), std::string::npos) << name << ' ' << wanted;
      }
    }
  }
}

// What bash offers for these words, the last of which is being typed.
std::string completed(const std::string& words) {
  return shell("bash -c 'source " + scratch("completion.bash") + "; COMP_WORDS=(convgrad " + words +
               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _convgrad; echo \"${COMPREPLY[@]}\"'");
}

TEST(Completion, bash_offers_commands_options_values_and_files) {
  if (!has_program("bash")) GTEST_SKIP() << "no bash here";
  write_file(scratch("completion.bash"), program({"completion", "bash"}).out);
  EXPECT_EQ(completed("gr"), "grad gradcheck\n");
  EXPECT_EQ(completed("ex"), "explain\n");
  EXPECT_EQ(completed("run x.json --th"), "--threads\n");
  EXPECT_EQ(completed("convert a.json b --to c"), "convgrad cpp cpp-eager\n");
  EXPECT_EQ(completed("completion f"), "fish\n");
  EXPECT_EQ(completed("run x.json --math t"), "tf32\n");
  EXPECT_EQ(completed("ops Conv3DBackpropF"), "Conv3DBackpropFilterV2\n");
  EXPECT_EQ(completed("run x.json --threads \"\""), "\n") << "a number: nothing to offer";
  write_file(scratch("only.npy"), "");
  EXPECT_EQ(completed("run p --first " + scratch("onl")), scratch("only.npy") + "\n");
  EXPECT_EQ(completed("nothing --th"), "\n");
}

TEST(Man, has_every_command_option_and_exit_code) {
  const Outcome man = program({"man"});
  EXPECT_EQ(man.code, 0);
  EXPECT_TRUE(man.out.starts_with(".TH CONVGRAD 1 "));
  for (const cli::Command& command : cli::all_commands())
    EXPECT_NE(man.out.find("\n.SS " + std::string(command.help.name) + "\n"), std::string::npos);
  for (const char* line : {"\n.SH NAME\n", "\n.SH EXIT STATUS\n", "\\fB\\-\\-dry\\-run\\fR\n", "\n3\nstopped by"})
    EXPECT_NE(man.out.find(line), std::string::npos) << line;
}

TEST(Man, is_set_without_a_complaint) {
  if (!has_program("groff")) GTEST_SKIP() << "no groff here";
  write_file(scratch("convgrad.1"), program({"man"}).out);
  const std::string text =
      shell("groff -man -Tutf8 -ww -P-c -P-b -P-u " + scratch("convgrad.1") + " 2> " + scratch("groff.err"));
  EXPECT_EQ(read_file(scratch("groff.err")), "");
  for (const char* part : {"convgrad grad net.json --of loss --wrt x,w", "--tolerance T", "EXIT STATUS"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
}

TEST(Help, every_command_has_examples_summary_and_exit_codes) {
  for (const cli::Command& command : cli::all_commands()) {
    const Outcome help = program({std::string(command.help.name), "--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_TRUE(help.out.starts_with("Examples:\n" + std::string(command.help.examples))) << help.out;
    EXPECT_NE(help.out.find(command.help.summary), std::string::npos);
    EXPECT_NE(help.out.find("\n  3  stopped by an interrupt"), std::string::npos) << help.out;
    for (const cli::Option& option : command.options)
      EXPECT_NE(help.out.find(option.name), std::string::npos) << option.name;
  }
}

}  // namespace
}  // namespace convgrad::test

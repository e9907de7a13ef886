// Runs the full grid, checks every cell against the definition, and prints docs/support.md.
// support_table           prints the page
// support_table FILE      exits 1 when FILE is not the page
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "support/grid.h"
#include "support/problems.h"

namespace {

using namespace convgrad;

struct Row {
  std::string_view op;
  std::string_view layout;
  auto operator<=>(const Row&) const = default;
};
struct Entry {
  int cells = 0;
  int right = 0;
};
using Table = std::map<std::pair<std::size_t, Row>, std::map<DType, Entry>>;  // in the order of ops.inc

const OpInfo& op_of(const ConvProblem& problem) {
  for (const OpInfo& op : all_ops()) {
    if (op.direction == problem.direction && op.rank == problem.rank) return op;
  }
  return all_ops().front();
}

bool is_right(const ConvProblem& problem, test::Random& random) {
  const Result<Geometry> geometry = validate(problem);
  if (!geometry.ok()) return false;
  const test::Operands given = test::random_operands(random, *geometry);
  const Result<Tensor> got = compute(problem, given.first, given.second);
  return got.ok() && test::difference(*got, test::by_definition(*geometry, given.first, given.second)).empty();
}

Table filled() {
  Table table;
  test::Random random(17);
  test::for_each_cell([&](const ConvProblem& problem) {
    const OpInfo& op = op_of(problem);
    const Row row{op.name, data_format(problem.layout, problem.rank)};
    Entry& entry = table[{static_cast<std::size_t>(op.op), row}][problem.dtype];
    ++entry.cells;
    entry.right += is_right(problem, random);
  });
  return table;
}

std::string page(const Table& table) {
  std::ostringstream out;
  out << "# What is computed\n\n"
         "Written by `support_table`, which runs every cell and compares it, bit for bit on integer data, with a "
         "second\n"
         "implementation of the definition; `make test` fails when this page is not what it prints.\n\n"
         "An entry counts cells that are right, of all cells there are: stride 1-3 x dilation 1-3 x {SAME, VALID,\n"
         "EXPLICIT asymmetric} x groups {1, 2, C}. `-` means that TensorFlow's op does not take the type.\n\n"
         "| op | layout |";
  for (const DTypeInfo& dtype : all_dtypes()) out << ' ' << dtype.numpy_name << " |";
  out << "\n|---|---|";
  for (std::size_t i = 0; i < all_dtypes().size(); ++i) out << "---|";
  out << '\n';
  int cells = 0, right = 0;
  for (const auto& [key, entries] : table) {
    out << "| " << key.second.op << " | " << key.second.layout << " |";
    for (const DTypeInfo& dtype : all_dtypes()) {
      const auto found = entries.find(dtype.dtype);
      if (found == entries.end()) {
        out << " - |";
        continue;
      }
      out << ' ' << found->second.right << '/' << found->second.cells << " |";
      cells += found->second.cells;
      right += found->second.right;
    }
    out << '\n';
  }
  out << "\n" << right << " of " << cells << " cells right, none skipped.\n";
  return out.str();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string wanted = page(filled());
  if (argc < 2) {
    std::fputs(wanted.c_str(), stdout);
    return 0;
  }
  std::ifstream file(argv[1]);
  std::stringstream got;
  got << file.rdbuf();
  if (got.str() == wanted) return 0;
  std::fprintf(stderr, "%s is not what the grid gives; run support_table > %s\n%s", argv[1], argv[1], wanted.c_str());
  return 1;
}

#include "planner/tune_file.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/knobs.h"
#include "base/text.h"
#include "convgrad/system.h"

namespace convgrad {
namespace {

constexpr std::uintmax_t kMostBytes = 4 << 20;

// The text up to the first `end`, which is taken away from `rest` with it.
std::string_view cut(std::string_view& rest, char end) {
  const std::size_t at = std::min(rest.find(end), rest.size());
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(std::min(at + 1, rest.size()));
  return part;
}

Status add_line(std::string_view line, std::string_view isa, TuneFile& file) {
  const Result<ConvProblem> problem = parse_problem(cut(line, ' '));
  if (!problem.ok()) return problem.status();
  const Result<Geometry> geometry = validate(*problem);
  if (!geometry.ok()) return geometry.status();
  const bool ours = cut(line, ' ') == isa;
  const Result<Knobs> knobs = parse_knobs(line);
  if (knobs.ok() && ours) file.knobs[to_text(problem_of(*geometry))] = *knobs;
  return knobs.status();
}

std::optional<TuneFile> named_file() {
  const char* const path = std::getenv("CONVGRAD_TUNE_FILE");
  if (path == nullptr || *path == '\0') return {};
  return read_tune_file(path, cpu_isa());
}

TuneFile complain(std::string complaint) { return {{}, std::move(complaint)}; }

}  // namespace

TuneFile parse_tune_file(std::string_view text, std::string_view isa) {
  TuneFile file;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = cut(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    // The rule alone: a sentence would repeat the file's bytes.
    if (const Status status = add_line(line, isa, file); !status.ok())
      return complain(concat("line ", number, " is refused by rule ", status.rule()));
  }
  return file;
}

TuneFile read_tune_file(const std::string& path, std::string_view isa) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return complain("there is no such file");
  const std::uintmax_t bytes = std::filesystem::file_size(path, error);
  if (error || bytes > kMostBytes) return complain(concat("it is larger than ", kMostBytes, " bytes"));
  std::ifstream stream(path, std::ios::binary);
  std::string text(static_cast<std::size_t>(bytes), '\0');
  if (!stream.read(text.data(), static_cast<std::streamsize>(bytes))) return complain("it cannot be read");
  return parse_tune_file(text, isa);
}

const TuneFile* tune_file() {
  static const std::optional<TuneFile> file = named_file();
  return file ? &*file : nullptr;
}

std::string tune_line(const Geometry& geometry, const Knobs& knobs) {
  return concat(to_text(problem_of(geometry)), " ", cpu_isa(), " ", to_text(knobs));
}

}  // namespace convgrad

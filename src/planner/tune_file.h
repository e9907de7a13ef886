// Knobs found earlier by `convgrad tune`, a line a problem:
//
//   n8c64h56w56_k64r3s3_same_f32_forward avx512 most_region=512 units=8
//
// Empty lines and lines that start with # are skipped, as are lines of other instruction sets.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "convgrad/plan.h"

namespace convgrad {

struct TuneFile {
  std::map<std::string, Knobs> knobs;  // by the text of problem_of(geometry)
  std::string complaint;               // why nothing of the file is used; empty when all of it is
};

// Any bytes will do.
TuneFile parse_tune_file(std::string_view text, std::string_view isa);

// A regular file of at most 4 MiB; a complaint otherwise.
TuneFile read_tune_file(const std::string& path, std::string_view isa);

// The file that CONVGRAD_TUNE_FILE names, read when it is first asked for; null without the variable.
const TuneFile* tune_file();

}  // namespace convgrad

// Whole files in memory. A file that cannot be read or written is a std::runtime_error with a
// sentence, which main() turns into exit code 1.
#pragma once

#include <cstdint>
#include <string>

namespace convgrad::cli {

// Why the last file call failed, as a sentence about `path`.
[[noreturn]] void file_failure(const char* verb, const std::string& path);

// At most limit bytes; "-" is standard input. Never reads further than it needs to see that the
// limit is passed, so that an endless stream ends.
std::string read_text(const std::string& path, std::size_t limit);

}  // namespace convgrad::cli

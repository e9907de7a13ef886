// Whole files in memory. A file that cannot be read or written is a std::runtime_error with a
// sentence, which main() turns into exit code 1.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace convgrad::cli {

// Why the last file call failed, as a sentence about `path`.
[[noreturn]] void file_failure(const char* verb, const std::string& path);

// That it is there and may be read. Opening a pipe or a device could wait for ever, and its size is not known.
void expect_readable_file(const std::string& path);

// At most limit bytes; "-" is standard input. Never reads further than it needs to see that the
// limit is passed, so that an endless stream ends.
std::string read_text(const std::string& path, std::size_t limit);

// A new file of these parts, one after the other.
void write_parts(const std::string& path, std::initializer_list<std::string_view> parts);

// To a file, or to standard output when there is no path.
void write_text(const std::string& path, std::string_view text);

}  // namespace convgrad::cli

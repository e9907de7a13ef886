// Files with the C library: errno says why a call failed.
#include "cli/files.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "cli/answer.h"

namespace convgrad::cli {
namespace {

std::string read_stream(std::FILE* file, const std::string& path, std::size_t limit) {
  std::string text;
  char block[1 << 16];
  while (const std::size_t count = std::fread(block, 1, sizeof(block), file)) {
    text.append(block, count);
    if (text.size() > limit)
      throw std::runtime_error(fmt::format("{} is larger than {} bytes", in_quotes(path), limit));
  }
  if (std::ferror(file) != 0) file_failure("read", path);
  return text;
}

}  // namespace

void file_failure(const char* verb, const std::string& path) {
  const std::string why = std::strerror(errno);
  throw std::runtime_error(fmt::format("cannot {} {}: {}", verb, in_quotes(path), why));
}

void expect_readable_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    throw std::runtime_error(fmt::format("cannot read {}: it is not a plain file", in_quotes(path)));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) file_failure("read", path);
}

std::string read_text(const std::string& path, std::size_t limit) {
  if (path == "-") return read_stream(stdin, "standard input", limit);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) file_failure("read", path);
  return read_stream(file.get(), path, limit);
}

void write_parts(const std::string& path, std::initializer_list<std::string_view> parts) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) file_failure("write", path);
  const bool written = std::all_of(parts.begin(), parts.end(), [file](std::string_view part) {
    return part.empty() || std::fwrite(part.data(), 1, part.size(), file) == part.size();
  });
  const int write_error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written) errno = write_error;
  if (!written || !closed) file_failure("write", path);
}

void write_text(const std::string& path, std::string_view text) {
  if (!path.empty()) return write_parts(path, {text});
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) file_failure("write", "standard output");
}

}  // namespace convgrad::cli

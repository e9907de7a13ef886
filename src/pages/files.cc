#include "pages/files.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "base/rules.h"
#include "base/text.h"
#include "pages/json.h"

namespace convgrad::graph {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

convgrad::Status failed(std::string_view path, std::string_view verb) {
  const string why = std::strerror(errno);
  return bad_file(path, concat("the file cannot be ", verb), why, "a file that can be");
}

bool write_all(const string& path, std::span<const std::string_view> parts) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  bool whole = true;
  for (const std::string_view part : parts)
    whole = whole && (part.empty() || std::fwrite(part.data(), 1, part.size(), file) == part.size());
  const int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (!whole) errno = error;
  return whole && closed;
}

// A device, behind a link or not, must stay one: a file that took its name would end it.
bool may_be_replaced(const string& path) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  return kind == std::filesystem::file_type::regular || kind == std::filesystem::file_type::not_found;
}

// Beside the file, of a name that no other writer of this process has at the time.
string unfinished_name(const string& path) {
  static std::atomic<unsigned> counter{0};
  return concat(path, ".", counter++, ".part");
}

}  // namespace

convgrad::Status bad_file(std::string_view path, string reason, string got, string wanted) {
  return refuse("page", {.rule = Rule::graph_file,
                         .argument = path,
                         .reason = concat(shown(path), ": ", reason),
                         .got = std::move(got),
                         .wanted = std::move(wanted)});
}

Result<string> read_file(const string& path, std::size_t limit) {
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  // Opening a pipe or a device could wait for ever.
  if (kind != std::filesystem::file_type::regular && kind != std::filesystem::file_type::not_found)
    return bad_file(path, "it cannot be read", "no plain file", "a plain file");
  const File file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (file == nullptr) return failed(path, "read");
  string text;
  char block[1 << 16];
  while (const std::size_t count = std::fread(block, 1, sizeof(block), file.get())) {
    text.append(block, count);
    if (text.size() > limit) return bad_file(path, "the file is too long", "more bytes", concat("at most ", limit));
  }
  if (std::ferror(file.get()) != 0) return failed(path, "read");
  return text;
}

convgrad::Status write_file(const string& path, std::span<const std::string_view> parts) {
  if (!may_be_replaced(path)) return write_all(path, parts) ? convgrad::Status() : failed(path, "written");
  const string unfinished = unfinished_name(path);
  if (write_all(unfinished, parts) && std::rename(unfinished.c_str(), path.c_str()) == 0) return {};
  const convgrad::Status status = failed(path, "written");
  std::remove(unfinished.c_str());
  return status;
}

}  // namespace convgrad::graph

#include "studio/server/folder.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

namespace convgrad::studio {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostName = 200;
constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;

Status refused_file(std::string_view name, std::string reason, std::string wanted) {
  return cli::complain({.rule = "graph-file",
                        .argument = "name",
                        .reason = std::move(reason),
                        .got = cli::in_quotes(cli::printable(name)),
                        .wanted = std::move(wanted)});
}

Status failed(std::string_view verb, std::string_view name) {
  return refused_file(name, fmt::format("cannot {} the file: {}", verb, std::strerror(errno)), "a file that can be");
}

// Closed when it goes.
class File {
 public:
  File(const std::string& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

bool write_whole(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return fsync(fd) == 0;
}

bool is_page_name(std::string_view name) { return name.ends_with(".json") && Folder::check_name(name).ok(); }

}  // namespace

std::string stamp_of(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3u;
  return fmt::format("{:016x}-{}", hash, text.size());
}

Status Folder::check_name(std::string_view name) {
  const auto bad = [](unsigned char c) { return c < 0x20 || c == 0x7F || c == '/' || c == '\\' || c == ':'; };
  if (name.size() > kMostName || !name.ends_with(".json") || name.starts_with('.') ||
      name.find("..") != std::string_view::npos || std::any_of(name.begin(), name.end(), bad))
    return refused_file(name, "the name is not one of a page file of this folder", "a plain name that ends in .json");
  return {};
}

Json Folder::list() const {
  Json files = Json::array();
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, error)) {
    const std::string name = entry.path().filename().string();
    struct stat facts{};
    if (!is_page_name(name) || lstat(entry.path().c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) continue;
    files.push_back(Json{{"name", name}, {"modified", facts.st_mtime}, {"bytes", facts.st_size}});
  }
  std::sort(files.begin(), files.end(), [](const Json& a, const Json& b) { return a["name"] < b["name"]; });
  return files;
}

bool Folder::has(const std::string& name) const {
  struct stat facts{};
  return lstat((path_ + "/" + name).c_str(), &facts) == 0;
}

Result<std::string> Folder::read(const std::string& name) const {
  CONVGRAD_RETURN_IF_ERROR(check_name(name));
  const File file(path_ + "/" + name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  struct stat facts{};
  if (file.fd() < 0 || fstat(file.fd(), &facts) != 0) return failed("read", name);
  if (!S_ISREG(facts.st_mode)) return refused_file(name, "the file is no plain file", "a plain file");
  if (facts.st_size > kMostBytes)
    return refused_file(name, "the file is too large", fmt::format("{} bytes", kMostBytes));
  std::string text(static_cast<std::size_t>(facts.st_size), '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t count = ::read(file.fd(), text.data() + got, text.size() - got);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    got += static_cast<std::size_t>(count);
  }
  text.resize(got);
  return text;
}

Status Folder::write(const std::string& name, std::string_view text) const {
  CONVGRAD_RETURN_IF_ERROR(check_name(name));
  const std::string path = path_ + "/" + name, part = fmt::format("{}/.{}.part", path_, name);
  struct stat facts{};
  if (lstat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode))
    return refused_file(name, "there is something of that name that is no plain file", "another name");
  unlink(part.c_str());
  {
    const File file(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
    if (file.fd() < 0 || !write_whole(file.fd(), text)) {
      const Status status = failed("write", name);
      unlink(part.c_str());
      return status;
    }
  }
  if (rename(part.c_str(), path.c_str()) == 0) return {};
  return failed("write", name);
}

}  // namespace convgrad::studio

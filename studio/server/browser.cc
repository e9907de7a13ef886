#include "studio/server/browser.h"

#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

namespace convgrad::studio {
namespace {

bool has_desktop() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return true;
  }
  return false;
}

void start(std::string file) {
  char program[] = "xdg-open";
  char* const argv[] = {program, file.data(), nullptr};
  posix_spawn_file_actions_t streams;
  posix_spawn_file_actions_init(&streams);
  posix_spawn_file_actions_addclosefrom_np(&streams, STDERR_FILENO + 1);
  pid_t child = -1;
  const bool started = posix_spawnp(&child, program, &streams, nullptr, argv, environ) == 0;
  posix_spawn_file_actions_destroy(&streams);
  if (started) std::thread([child] { waitpid(child, nullptr, 0); }).detach();
}

}  // namespace

void BrowserStart::open(const std::string& address) {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "convgrad-studio-XXXXXX.html").string();
  const int fd = has_desktop() ? mkstemps(path.data(), 5) : -1;
  if (fd < 0) return;
  file_ = path;
  const std::string text =
      fmt::format("<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0;url={}\">", address);
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  if (written) start(path);
}

BrowserStart::~BrowserStart() {
  if (!file_.empty()) unlink(file_.c_str());
}

}  // namespace convgrad::studio

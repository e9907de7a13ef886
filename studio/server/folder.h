// The page files of one folder: the only files that the studio reads and writes.
#pragma once

#include <string>
#include <string_view>

#include "studio/server/messages.h"

namespace convgrad::studio {

// Changes with a file's content.
std::string stamp_of(std::string_view text);

// Names are names of files of the folder itself: no separators, no "..", nothing hidden, ending in .json. Links are not
// followed. What cannot be done is a Status; its rule is "graph-file".
class Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

  Json list() const;  // [{name, modified, bytes}], by name; modified in seconds since 1970
  static Status check_name(std::string_view name);
  bool has(const std::string& name) const;
  Result<std::string> read(const std::string& name) const;
  // Through a file beside it that takes its name when it is whole.
  Status write(const std::string& name, std::string_view text) const;

 private:
  std::string path_;
};

}  // namespace convgrad::studio

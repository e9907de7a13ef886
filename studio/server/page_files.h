// The page and the gallery inside the program: files as bytes, made when it is built (embed.cmake).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace convgrad::studio {

struct EmbeddedFile {
  std::string_view path;  // "index.html", "assets/index-1a2b.js"
  std::string_view bytes;
};
std::span<const EmbeddedFile> embedded_page();     // each compressed by gzip; empty when no page was built
std::span<const EmbeddedFile> embedded_gallery();  // gallery/index.json, and the page files that it names

// What GET of a path of the page answers.
struct PageFile {
  std::string bytes;
  std::string type;
  bool gzip = false;
  bool forever = false;  // its name changes with its content
};
// From a folder, or from the program when that is empty. No value: there is no such file.
std::optional<PageFile> page_file(const std::string& folder, std::string_view path);

}  // namespace convgrad::studio

#include "studio/server/page_files.h"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace convgrad::studio {
namespace {

namespace fs = std::filesystem;

struct FileType {
  std::string_view ending, type;
};
constexpr FileType kTypes[] = {{".html", "text/html; charset=utf-8"},
                               {".js", "text/javascript; charset=utf-8"},
                               {".css", "text/css; charset=utf-8"},
                               {".json", "application/json"},
                               {".svg", "image/svg+xml"},
                               {".png", "image/png"},
                               {".ico", "image/x-icon"},
                               {".woff2", "font/woff2"},
                               {".webmanifest", "application/manifest+json"}};

constexpr std::string_view kNoPage =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>convgrad studio</title>"
    "<h1>convgrad studio</h1><p>This program was built without the page. <code>make studio</code> builds it in; the "
    "requests under /api/ work without it.</p></html>\n";

std::string type_of(std::string_view path) {
  for (const FileType& row : kTypes) {
    if (path.ends_with(row.ending)) return std::string(row.type);
  }
  return "application/octet-stream";
}

bool leads_out(std::string_view path) {
  return path.empty() || path.starts_with('/') || path.find("..") != std::string_view::npos ||
         path.find('\\') != std::string_view::npos || path.find('\0') != std::string_view::npos;
}

std::optional<PageFile> from_folder(const std::string& folder, std::string_view path) {
  const fs::path file = fs::path(folder) / path;
  std::error_code error;
  if (leads_out(path) || !fs::is_regular_file(fs::symlink_status(file, error))) return std::nullopt;
  std::ifstream stream(file, std::ios::binary);
  return PageFile{{std::istreambuf_iterator<char>(stream), {}}, type_of(path)};
}

}  // namespace

std::optional<PageFile> page_file(const std::string& folder, std::string_view path) {
  if (path.empty()) path = "index.html";
  if (!folder.empty()) return from_folder(folder, path);
  for (const EmbeddedFile& file : embedded_page()) {
    if (file.path == path) return PageFile{std::string(file.bytes), type_of(path), true, path.starts_with("assets/")};
  }
  if (path == "index.html" && embedded_page().empty()) return PageFile{std::string(kNoPage), type_of(path)};
  return std::nullopt;
}

}  // namespace convgrad::studio

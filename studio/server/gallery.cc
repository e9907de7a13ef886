#include "studio/server/gallery.h"

#include <fmt/core.h>

#include <algorithm>

#include "studio/server/page_files.h"

namespace convgrad::studio {
namespace {

std::string_view text_of(const std::string& path) {
  for (const EmbeddedFile& file : embedded_gallery()) {
    if (file.path == path) return file.bytes;
  }
  return {};
}

const Json& index() {
  static const Json json = Json::parse(text_of("gallery/index.json"));
  return json;
}

}  // namespace

Json gallery_list() {
  Json list = Json::array();
  for (const Json& scene : index()) {
    list.push_back(
        Json{{"id", scene["id"]}, {"title", scene["title"]}, {"text", scene["text"]}, {"group", scene["group"]}});
  }
  return list;
}

std::optional<std::string> gallery_scene(const std::string& id) {
  for (const Json& scene : index()) {
    if (scene["id"] != id) continue;
    const std::string loop = scene.contains("loop") ? fmt::format(R"(,"loop":{})", scene["loop"].dump()) : "";
    return fmt::format(R"({{"page":{},"expect":{}{}}})", text_of(scene["file"].get<std::string>()),
                       scene["expect"].dump(), loop);
  }
  return std::nullopt;
}

std::string scene_of(const std::string& op) {
  std::string found;
  for (const Json& scene : index()) {
    if (scene["title"] == op) return scene["id"];
    const Json page = Json::parse(text_of(scene["file"].get<std::string>()));
    const auto is_op = [&](const Json& node) { return node["op"] == op; };
    if (found.empty() && std::any_of(page["nodes"].begin(), page["nodes"].end(), is_op)) found = scene["id"];
  }
  return found;
}

}  // namespace convgrad::studio

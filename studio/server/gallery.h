// The examples inside the program: examples/gallery, page files and what they must show.
#pragma once

#include <optional>
#include <string>

#include "studio/server/messages.h"

namespace convgrad::studio {

Json gallery_list();  // [{id, title, text, group}]
// {page, expect, loop?} as text; no value when there is no such scene.
std::optional<std::string> gallery_scene(const std::string& id);

}  // namespace convgrad::studio

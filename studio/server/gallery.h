// The examples inside the program: examples/gallery, page files and what they must show.
#pragma once

#include <optional>
#include <string>

#include "studio/server/messages.h"

namespace convgrad::studio {

Json gallery_list();  // [{id, title, text, group}]
// {page, expect, loop?} as text; no value when there is no such scene.
std::optional<std::string> gallery_scene(const std::string& id);

// The first scene that has a block of this op, those that are named after it before others; empty: there is none.
std::string scene_of(const std::string& op);

}  // namespace convgrad::studio
